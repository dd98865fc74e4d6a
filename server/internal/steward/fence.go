package steward

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/gridstand/gridstand/game/replay"
	"github.com/gridstand/gridstand/server/internal/directory"
	"github.com/gridstand/gridstand/server/internal/gamelog"
)

// fenceTries is how often a game is fenced anew that moves on meanwhile.
const fenceTries = 10

// Fence makes a game that is not over damaged for good: nobody plays on over
// what Redis may have lost of it, and whoever asks for it is told. It counts no
// more among its players' games, is off the lists, and is forgotten after the
// time for which finished games are kept.
//
// Errors: gamelog.ErrNotFound, replay.ErrGameOver, *gamelog.DamagedError for one
// that was damaged before, replay.ErrUnknown, or one of Redis.
func (s *Steward) Fence(ctx context.Context, gameID string) error {
	for range fenceTries {
		history, err := s.Log.Load(ctx, gameID, gamelog.ID{}, 1)
		if err != nil {
			return err
		}
		state := history.Tip.State
		if state.Status == replay.Finished {
			return replay.ErrGameOver
		}
		err = s.fence(ctx, state, history.Tip.ID)
		if !errors.Is(err, gamelog.ErrMoved) {
			return err
		}
	}
	return gamelog.ErrMoved
}

// fence fences a game that was known at a state, and whose log ends with last.
func (s *Steward) fence(ctx context.Context, state *replay.State, last gamelog.ID) error {
	if err := s.Log.Fence(ctx, state.ID, last, s.KeepFinished); err != nil {
		return err
	}
	listing := directory.Of(state, 0)
	for _, playerID := range listing.Players {
		if err := s.Accounts.Release(ctx, playerID, state.ID); err != nil {
			return err
		}
	}
	if err := s.Directory.Remove(ctx, listing); err != nil {
		return err
	}
	return s.Scheduler.Remove(ctx, state.ID)
}

// FenceBefore fences all games that are not over and were created before a
// moment, by Redis's clock. It returns their ids, also with an error.
func (s *Steward) FenceBefore(ctx context.Context, before time.Time) ([]string, error) {
	var ids []string
	err := s.Log.Games(ctx, func(gameIDs []string) error {
		fenced, err := s.fenceAll(ctx, gameIDs, before)
		ids = append(ids, fenced...)
		return err
	})
	return ids, err
}

// fenceAll fences those of the games that are not over and were created before
// a moment.
func (s *Steward) fenceAll(ctx context.Context, gameIDs []string, before time.Time) (fenced []string, err error) {
	heads, err := s.Log.Heads(ctx, gameIDs)
	if err != nil {
		return nil, err
	}
	for i, head := range heads {
		if head.State == nil || head.State.Status == replay.Finished || !head.State.CreateTime.Before(before) {
			continue
		}
		err := s.Fence(ctx, gameIDs[i])
		switch {
		case err == nil:
			fenced = append(fenced, gameIDs[i])
		case kindOf(err) == failed && !errors.Is(err, replay.ErrGameOver):
			return fenced, fmt.Errorf("fencing game %s: %w", gameIDs[i], err)
		}
	}
	return fenced, nil
}
