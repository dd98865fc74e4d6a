package challenge

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/gridstand/gridstand/game/replay"
	"github.com/gridstand/gridstand/server/internal/leaderboard"
	"github.com/gridstand/gridstand/server/internal/store"
)

// Of reads the challenge of an attempt like Read. It returns nil if the challenge no longer exists,
// and for games that are not attempts.
func (s *Challenges) Of(ctx context.Context, state *replay.State) (*Challenge, error) {
	if !state.IsAttempt() {
		return nil, nil
	}
	c, _, err := s.Read(ctx, state.Attempt.ChallengeID)
	if errors.Is(err, ErrNotFound) {
		return nil, nil
	}
	return c, err
}

// Window returns the period during which the attempt's player may play. If fresh is set, Window
// reads the challenge from the store; otherwise it may use a cached copy. The error is
// replay.ErrNotStarted if the race has not started, replay.ErrGameOver if this server knows that
// the challenge is closed or if the player left the roster before the start, and
// store.ErrUnsettled while it is unknown whether an outage postpones the close of a race.
func (s *Challenges) Window(ctx context.Context, attempt *replay.State, fresh bool) (from, to time.Time, err error) {
	c, ok := s.known.Get(attempt.Attempt.ChallengeID)
	if !ok || fresh || c.OpenTime.IsZero() {
		var now time.Time
		if c, now, err = s.Get(ctx, attempt.Attempt.ChallengeID); err != nil {
			return from, to, err
		}
		if c.Status(now) == Closed && !c.Final() {
			// Do not report that the game is over if it may continue.
			return from, to, fmt.Errorf("the close of race %s is not known yet: %w", c.ID, store.ErrUnsettled)
		}
	}
	if c.OpenTime.IsZero() {
		return from, to, replay.ErrNotStarted
	}
	if c.ended || !c.Has(attempt.ID) {
		return from, to, replay.ErrGameOver
	}
	return c.OpenTime, c.Deadline(attempt.CreateTime), nil
}

// Record records the results of a finished game on the leaderboards or in the standings where
// they count. of is what Of returns for the game. Record is idempotent.
func Record(ctx context.Context, boards *leaderboard.Boards, final *replay.State, of *Challenge) error {
	for _, result := range leaderboard.ResultsOf(final) {
		if result.ChallengeID != "" {
			if of == nil {
				continue
			}
			result.Expires = of.Expires.Truncate(time.Second).Add(time.Second) // Boards expire at whole seconds, so round up.
		}
		if err := boards.Record(ctx, result); err != nil {
			return err
		}
	}
	return nil
}

// Hidden returns nil if the player may read the attempt, or else a *HiddenError or
// *NotOpenError. playerID is empty for anonymous callers. If the challenge no longer
// exists, players may still read attempts at rematches and their own attempts at daily
// games and links; for all other attempts, the error is ErrNotFound.
func (s *Challenges) Hidden(ctx context.Context, attempt *replay.State, playerID string) error {
	own := len(attempt.SeatsOf(playerID)) > 0
	kind := attempt.Attempt.Kind
	if kind == replay.Rematch || own && kind != replay.Race {
		return nil
	}
	if c, ok := s.known.Get(attempt.Attempt.ChallengeID); ok {
		if c.ended {
			return nil
		}
		if kind == replay.Race && !c.OpenTime.IsZero() && !attempt.UpdateTime.Before(c.OpenTime) {
			return nil // The race has opened, because the attempt has a move or is over.
		}
	}
	c, now, err := s.Get(ctx, attempt.Attempt.ChallengeID)
	if err != nil {
		return err
	}
	switch status := c.Status(now); {
	case status == Closed, kind == replay.Race && status == Open:
		return nil
	case kind == replay.Race:
		return &NotOpenError{c}
	case playerID == "":
		return &HiddenError{c}
	}
	head, err := s.Log.Head(ctx, AttemptID(c.ID, playerID))
	if err != nil {
		return err
	}
	if own := head.State; own != nil && own.Status == replay.Finished {
		return nil
	}
	return &HiddenError{c}
}

// Reveal adds the seed to the state of a game if that is a finished attempt, and its challenge is closed or a
// rematch. The seed of a race stays hidden until it is known that outages cannot postpone its close.
func (s *Challenges) Reveal(ctx context.Context, state *replay.State) (*replay.State, error) {
	if !state.IsAttempt() || state.Status != replay.Finished {
		return state, nil
	}
	// Avoid reading the store, because all watchers of an attempt may request the seed when
	// it ends.
	if c, ok := s.known.Get(state.Attempt.ChallengeID); ok && (c.ended || c.Kind == replay.Rematch) {
		return state.Reveal(c.Seed), nil
	}
	c, now, err := s.Get(ctx, state.Attempt.ChallengeID)
	switch {
	case errors.Is(err, ErrNotFound):
		return state, nil
	case err != nil || c.Revealed(now).IsZero():
		return state, err
	}
	return state.Reveal(c.Seed), nil
}
