package liveness

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/gridstand/gridstand/game/replay"
	"github.com/gridstand/gridstand/server/internal/challenge"
	"github.com/gridstand/gridstand/server/internal/directory"
	"github.com/gridstand/gridstand/server/internal/gamelog"
	"github.com/gridstand/gridstand/server/internal/store"
)

// Rebuilt reports what Rebuild has done.
type Rebuilt struct {
	// Games is the number of games, including unreadable ones. Finished is the number of
	// readable games that are over.
	Games, Finished int
	// Damaged lists the damaged games. Quarantined lists those that are damaged because
	// they were quarantined.
	Damaged, Quarantined []string
	// Unknown is the number of games that only a newer server can read.
	Unknown int
}

// Rebuild derives the leaderboards, the lists and the queue of jobs from all logs, and adds the games to
// the profiles that do not count them. Servers may keep running, but the leaderboards lack entries until
// Rebuild returns. Hidden players stay hidden.
func (r *Recovery) Rebuild(ctx context.Context) (Rebuilt, error) {
	var b Rebuilt
	// A score that is too high would keep the player's correct score off a board.
	if err := r.Leaderboard.Clear(ctx); err != nil {
		return b, err
	}
	var mu sync.Mutex
	err := r.Log.IDs(ctx, func(gameIDs []string) error {
		group, ctx := errgroup.WithContext(ctx)
		group.SetLimit(workers)
		for _, gameID := range gameIDs {
			group.Go(func() error {
				tip, err := r.Log.Load(ctx, gameID, store.ID{}, nil)
				state := tip.State
				if err == nil {
					err = r.index(ctx, gamelog.Head{State: state})
				}
				if err == nil && state.Status == replay.Finished {
					var of *challenge.Challenge
					if of, err = r.Challenges.Of(ctx, state); err == nil {
						err = r.Profiles.Record(ctx, state, of)
					}
				}
				mu.Lock()
				defer mu.Unlock()
				return b.count(gameID, state, err)
			})
		}
		return group.Wait()
	})
	return b, err
}

// count counts a game in the report. err is the result of reading and indexing the game.
// count returns an error if Rebuild has to stop.
func (b *Rebuilt) count(gameID string, state *replay.State, err error) error {
	switch outcomeOf(err) {
	case readable:
		if state.Status == replay.Finished {
			b.Finished++
		}
	case damaged:
		b.Damaged = append(b.Damaged, gameID)
		if d, ok := errors.AsType[*gamelog.DamagedError](err); ok && d.Quarantined {
			b.Quarantined = append(b.Quarantined, gameID)
		}
	case unknown:
		b.Unknown++
	case gone:
		return nil
	case failed:
		return fmt.Errorf("game %s: %w", gameID, err)
	}
	b.Games++
	return nil
}

// index adds games to the leaderboards and lists, and enqueues those that are not over: at once those
// that wait for a bot or a clock, the others if they have no job. If two servers die shortly after one
// another, the job of a bot or a clock can be left at a time that another server chose before the last
// entry. index is idempotent.
func (r *Recovery) index(ctx context.Context, heads ...gamelog.Head) error {
	var listings []store.Listing
	var urgent, open, players []string
	for _, head := range heads {
		if head.State == nil {
			continue // This server cannot read the game.
		}
		listing := directory.Of(head.State, head.Watchers)
		listings, players = append(listings, listing), append(players, listing.Players...)
		switch {
		case head.State.BotToMove() != "" || !head.State.Deadline().IsZero():
			urgent = append(urgent, head.State.ID)
			continue
		case head.State.Status != replay.Finished:
			open = append(open, head.State.ID)
			continue
		}
		of, err := r.Challenges.Of(ctx, head.State)
		if err == nil {
			err = challenge.Record(ctx, r.Leaderboard, head.State, of)
		}
		if err != nil {
			return err
		}
	}
	if err := r.Directory.Enter(ctx, listings...); err != nil {
		return err
	}
	// Renew the accounts, because an account must not expire while one of its games is
	// kept.
	if err := r.Accounts.Renew(ctx, players...); err != nil {
		return err
	}
	if err := r.Queue.EnqueueBy(ctx, store.AtOnce, urgent...); err != nil {
		return err
	}
	return r.Queue.EnqueueMissing(ctx, open...)
}
