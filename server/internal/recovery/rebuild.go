package recovery

import (
	"context"
	"fmt"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/gridstand/gridstand/game/replay"
	"github.com/gridstand/gridstand/server/internal/directory"
	"github.com/gridstand/gridstand/server/internal/gamelog"
	"github.com/gridstand/gridstand/server/internal/leaderboard"
	"github.com/gridstand/gridstand/server/internal/store"
)

// Rebuilt is what Rebuild did.
type Rebuilt struct {
	// Games is how many logs were read, of which Finished were over.
	Games, Finished int
	// Pruned is how many entries were removed from leaderboards because no log
	// has their result, and Recounted how many leaderboards had a wrong count.
	Pruned, Recounted int
	// Damaged are the games that cannot be read.
	Damaged []string
	// Unknown is how many games only a newer server can read.
	Unknown int
}

// Rebuild derives the leaderboards, the lists and the scheduler's queue from all
// logs. Servers may run at the same time: correct entries are never removed.
// Players who are hidden stay hidden.
func (r *Recovery) Rebuild(ctx context.Context) (Rebuilt, error) {
	var b Rebuilt
	err := r.Accounts.LapseAll(ctx)
	if err != nil {
		return b, err
	}
	// First the wrong entries: a score that is too high would keep the player's
	// correct one off the board.
	repair, err := r.Leaderboard.Prune(ctx, func(result leaderboard.Result) (bool, error) {
		return r.matchesLog(ctx, result)
	})
	b.Pruned, b.Recounted = repair.Removed, repair.Recounted
	if err != nil {
		return b, err
	}
	var mu sync.Mutex
	err = r.Log.IDs(ctx, func(gameIDs []string) error {
		group, ctx := errgroup.WithContext(ctx)
		group.SetLimit(workers)
		for _, gameID := range gameIDs {
			group.Go(func() error {
				history, err := r.Log.Load(ctx, gameID, store.ID{}, 1)
				state := history.Tip.State
				if err == nil {
					err = r.index(ctx, gamelog.Head{State: state})
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

// count counts a game that was read and indexed with an error or without. It
// returns errors that end the rebuilding.
func (b *Rebuilt) count(gameID string, state *replay.State, err error) error {
	switch outcomeOf(err) {
	case readable:
		if state.Status == replay.Finished {
			b.Finished++
		}
	case damaged:
		b.Damaged = append(b.Damaged, gameID)
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

// matchesLog reports whether the log of a result's game has the same result.
func (r *Recovery) matchesLog(ctx context.Context, result leaderboard.Result) (bool, error) {
	history, err := r.Log.Load(ctx, result.GameID, store.ID{}, 1)
	switch outcomeOf(err) {
	case readable:
	case unknown:
		return true, nil // A newer server decides.
	case damaged, gone:
		return false, nil
	default:
		return false, err
	}
	for _, logged := range leaderboard.ResultsOf(history.Tip.State) {
		// As precise as the board is.
		if logged.Time = logged.Time.UTC(); logged == result {
			return true, nil
		}
	}
	return false, nil
}

// index puts games on the leaderboards and lists, and makes those due that are not
// over and have no job. It can be repeated.
func (r *Recovery) index(ctx context.Context, heads ...gamelog.Head) error {
	var listings []store.Listing
	var open, players []string
	for _, head := range heads {
		if head.State == nil {
			continue // It cannot be read, or not by this server.
		}
		for _, result := range leaderboard.ResultsOf(head.State) {
			if err := r.Leaderboard.Record(ctx, result); err != nil {
				return err
			}
		}
		listing := directory.Of(head.State, head.Watchers)
		listings, players = append(listings, listing), append(players, listing.Players...)
		if head.State.Status != replay.Finished {
			open = append(open, head.State.ID)
		}
	}
	if err := r.Directory.Enter(ctx, listings); err != nil {
		return err
	}
	// An account does not lapse while one of its games is kept.
	if err := r.Accounts.Renew(ctx, players...); err != nil {
		return err
	}
	return r.Scheduler.EnqueueMissing(ctx, open...)
}
