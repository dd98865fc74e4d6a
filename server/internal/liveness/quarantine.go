package liveness

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/gridstand/gridstand/game/replay"
	"github.com/gridstand/gridstand/server/internal/gamelog"
	"github.com/gridstand/gridstand/server/internal/store"
)

// quarantineTries is the maximum number of attempts that Quarantine makes if the game keeps
// changing.
const quarantineTries = 10

// Quarantine permanently marks a game that is not over as damaged, because the store may have
// lost some of its moves. The game accepts no more moves, and clients that request it get an
// error. It is omitted from the lists, and is deleted after Stores.KeepFinished. The lists and
// the queue lose the game when they are next read.
//
// Errors: gamelog.ErrNotFound, replay.ErrGameOver, *gamelog.DamagedError if the game was
// already damaged, replay.ErrUnknown, or an error from the store.
func (r *Recovery) Quarantine(ctx context.Context, gameID string) error {
	for range quarantineTries {
		tip, err := r.Log.Load(ctx, gameID, store.ID{}, nil)
		if err != nil {
			return err
		}
		state := tip.State
		if state.Status == replay.Finished {
			return replay.ErrGameOver
		}
		err = r.Log.Quarantine(ctx, gameID, tip.ID, r.KeepFinished)
		if !errors.Is(err, store.ErrMoved) {
			return err
		}
	}
	return store.ErrMoved
}

// QuarantineBefore quarantines all games that are neither over nor damaged and were created before the
// given time, by the store's clock. It returns the ids of the quarantined games even if there is an error.
func (r *Recovery) QuarantineBefore(ctx context.Context, before time.Time) (quarantined []string, err error) {
	err = r.eachHead(ctx, func(heads []gamelog.Head) error {
		for _, head := range heads {
			s := head.State
			if s == nil || s.Status == replay.Finished || !s.CreateTime.Before(before) {
				continue
			}
			err := r.Quarantine(ctx, s.ID)
			switch {
			case err == nil:
				quarantined = append(quarantined, s.ID)
			case outcomeOf(err) == failed && !errors.Is(err, replay.ErrGameOver):
				return fmt.Errorf("quarantining game %s: %w", s.ID, err)
			}
		}
		return nil
	})
	return quarantined, err
}
