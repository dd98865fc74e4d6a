package recovery

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/gridstand/gridstand/game/replay"
	"github.com/gridstand/gridstand/server/internal/directory"
	"github.com/gridstand/gridstand/server/internal/store"
)

// quarantineTries is how often Quarantine is tried on a game that moves on.
const quarantineTries = 10

// Quarantine makes a game that is not over damaged for good, because the store may
// have lost moves of it: the game takes no more moves, and clients that ask for it
// are told that it is damaged. It no longer counts among its players' games, is
// taken off the lists, and is forgotten after Config.KeepFinished.
//
// Errors: gamelog.ErrNotFound, replay.ErrGameOver, *gamelog.DamagedError for a
// game that was damaged before, replay.ErrUnknown, or one of the store.
func (r *Recovery) Quarantine(ctx context.Context, gameID string) error {
	for range quarantineTries {
		history, err := r.Log.Load(ctx, gameID, store.ID{}, 1)
		if err != nil {
			return err
		}
		state := history.Tip.State
		if state.Status == replay.Finished {
			return replay.ErrGameOver
		}
		err = r.quarantine(ctx, state, history.Tip.ID)
		if !errors.Is(err, store.ErrMoved) {
			return err
		}
	}
	return store.ErrMoved
}

// quarantine quarantines a game that was known at a state, and whose log ends with
// last.
func (r *Recovery) quarantine(ctx context.Context, state *replay.State, last store.ID) error {
	if err := r.Log.Quarantine(ctx, state.ID, last, r.KeepFinished); err != nil {
		return err
	}
	listing := directory.Of(state, 0)
	for _, playerID := range listing.Players {
		if err := r.Accounts.Release(ctx, playerID, state.ID); err != nil {
			return err
		}
	}
	if err := r.Directory.Remove(ctx, listing); err != nil {
		return err
	}
	return r.Scheduler.Remove(ctx, state.ID)
}

// QuarantineBefore quarantines all games that are not over and were created before
// a time, by the store's clock. It returns their ids, also with an error.
func (r *Recovery) QuarantineBefore(ctx context.Context, before time.Time) ([]string, error) {
	var ids []string
	err := r.Log.IDs(ctx, func(gameIDs []string) error {
		quarantined, err := r.quarantineOpen(ctx, gameIDs, before)
		ids = append(ids, quarantined...)
		return err
	})
	return ids, err
}

// quarantineOpen quarantines those of the games that are not over and were created
// before a time. It returns their ids, also with an error.
func (r *Recovery) quarantineOpen(ctx context.Context, gameIDs []string, before time.Time) (quarantined []string, err error) {
	heads, err := r.Log.Heads(ctx, gameIDs)
	if err != nil {
		return nil, err
	}
	for i, head := range heads {
		if head.State == nil || head.State.Status == replay.Finished || !head.State.CreateTime.Before(before) {
			continue
		}
		err := r.Quarantine(ctx, gameIDs[i])
		switch {
		case err == nil:
			quarantined = append(quarantined, gameIDs[i])
		case outcomeOf(err) == failed && !errors.Is(err, replay.ErrGameOver):
			return quarantined, fmt.Errorf("quarantining game %s: %w", gameIDs[i], err)
		}
	}
	return quarantined, nil
}
