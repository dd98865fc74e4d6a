package steward

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/redis/go-redis/v9"
	"golang.org/x/sync/errgroup"

	"github.com/gridstand/gridstand/game/replay"
	"github.com/gridstand/gridstand/server/internal/directory"
	"github.com/gridstand/gridstand/server/internal/gamelog"
	"github.com/gridstand/gridstand/server/internal/leaderboard"
)

// Rebuilt is what Rebuild did.
type Rebuilt struct {
	// Games is how many logs were read, of which Finished were over.
	Games, Finished int
	// Pruned is how many entries were taken off boards that no log proves.
	Pruned int
	// Damaged are the games that cannot be read.
	Damaged []string
	// Unknown is how many games only a newer server can read.
	Unknown int
}

// Rebuild derives the leaderboards, the lists and the list of what is to be
// seen to again, from all logs that there are. Servers may go on meanwhile: what
// is right is never taken away. Players who are hidden stay so.
func (s *Steward) Rebuild(ctx context.Context) (Rebuilt, error) {
	var r Rebuilt
	err := s.Accounts.LapseAll(ctx)
	if err != nil {
		return r, err
	}
	// First what is wrong on the boards: it may stand in the way of what is
	// right but less.
	if r.Pruned, err = s.Leaderboard.Prune(ctx, func(result leaderboard.Result) (bool, error) {
		return s.proved(ctx, result)
	}); err != nil {
		return r, err
	}
	var mu sync.Mutex
	err = s.Log.Games(ctx, func(gameIDs []string) error {
		group, ctx := errgroup.WithContext(ctx)
		group.SetLimit(workers)
		for _, gameID := range gameIDs {
			group.Go(func() error {
				history, err := s.Log.Load(ctx, gameID, gamelog.ID{}, 1)
				state := history.Tip.State
				if err == nil {
					err = s.enter(ctx, gamelog.Head{State: state})
				}
				mu.Lock()
				defer mu.Unlock()
				r.Games++
				switch kindOf(err) {
				case readable:
					if state.Status == replay.Finished {
						r.Finished++
					}
				case damaged:
					r.Damaged = append(r.Damaged, gameID)
				case unknown:
					r.Unknown++
				case gone:
					r.Games--
				default:
					return fmt.Errorf("game %s: %w", gameID, err)
				}
				return nil
			})
		}
		return group.Wait()
	})
	return r, err
}

// What became of reading a game.
type kind int

const (
	failed kind = iota
	readable
	damaged
	unknown
	gone
)

func kindOf(err error) kind {
	var d *gamelog.DamagedError
	switch {
	case err == nil:
		return readable
	case errors.As(err, &d):
		return damaged
	case errors.Is(err, replay.ErrUnknown):
		return unknown
	case errors.Is(err, gamelog.ErrNotFound):
		return gone
	default:
		return failed
	}
}

// proved reports whether the log of a result's game says the same.
func (s *Steward) proved(ctx context.Context, result leaderboard.Result) (bool, error) {
	history, err := s.Log.Load(ctx, result.GameID, gamelog.ID{}, 1)
	switch kindOf(err) {
	case readable:
	case unknown:
		return true, nil // for a newer server to say
	case damaged, gone:
		return false, nil
	default:
		return false, err
	}
	for _, r := range results(history.Tip.State) {
		// As precise as the board is.
		if r.Time = r.Time.UTC(); r == result {
			return true, nil
		}
	}
	return false, nil
}

// enter puts games where they are found: on the boards and the lists, and those
// that go on among what is to be seen to. Doing it again changes nothing.
func (s *Steward) enter(ctx context.Context, heads ...gamelog.Head) error {
	var listings []directory.Listing
	var open []string
	for _, head := range heads {
		if head.State == nil {
			continue // It cannot be read, or not by this server.
		}
		for _, result := range results(head.State) {
			if err := s.Leaderboard.Record(ctx, result); err != nil {
				return err
			}
		}
		listings = append(listings, directory.Of(head.State, head.Watchers))
		if head.State.Status != replay.Finished {
			open = append(open, head.State.ID)
		}
	}
	if err := s.Directory.Enter(ctx, listings); err != nil {
		return err
	}
	// An account does not lapse while one of its games is kept.
	var players []string
	for _, listing := range listings {
		players = append(players, listing.Players...)
	}
	if err := s.Accounts.Renew(ctx, players...); err != nil {
		return err
	}
	return s.Scheduler.EnqueueMissing(ctx, open...)
}

// results are those of a game's seats that count; none while it is not over.
func results(final *replay.State) []leaderboard.Result {
	var list []leaderboard.Result
	scores := final.Position.Scores()
	for i, seat := range final.Seats {
		if final.Scored(i) {
			list = append(list, leaderboard.Result{
				Variant: final.Variant.ID, PlayerID: seat.Player.ID, GameID: final.ID,
				Score: scores[i], Time: final.UpdateTime,
			})
		}
	}
	return list
}

// patrolKey is there while no server need patrol.
const patrolKey = "patrolled"

// patrol is EnterAll, by one server for all: should a board or a list be lost,
// what belongs there is there again within the hour.
func (s *Steward) patrol(ctx context.Context) {
	err := s.Client.SetArgs(ctx, patrolKey, "1", redis.SetArgs{Mode: "NX", TTL: s.renewEvery() * 9 / 10}).Err()
	if errors.Is(err, redis.Nil) {
		return // Another one does.
	}
	if err == nil {
		err = s.EnterAll(ctx)
	}
	if err != nil && ctx.Err() == nil {
		s.Logger.Warn("what may be missing on boards and lists not looked for yet", "id", "reconcile-delayed", "error", err)
	}
}

// EnterAll is Rebuild by what the games' heads say, which costs much less than
// reading their logs. It takes nothing away.
func (s *Steward) EnterAll(ctx context.Context) error {
	return s.Log.Games(ctx, func(gameIDs []string) error {
		heads, err := s.Log.Heads(ctx, gameIDs)
		if err != nil {
			return err
		}
		return s.enter(ctx, heads...)
	})
}
