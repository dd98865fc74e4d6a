package liveness

import (
	"context"
	"errors"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/gridstand/gridstand/game/replay"
	"github.com/gridstand/gridstand/server/internal/gamelog"
	"github.com/gridstand/gridstand/server/internal/match"
	"github.com/gridstand/gridstand/server/internal/store"
)

// creditors is the number of clocks that are credited concurrently.
const creditors = 8

// Credit returns the time that must be added to the running clock in the given state, so that it
// has a full turn after the last outage. It sends a heartbeat first, so that every outage that
// began before the deadline is known.
//
// Errors: store.ErrTooEarly before the deadline, or an error from the store or the context.
func (m *Monitor) Credit(ctx context.Context, state *replay.State) (time.Duration, error) {
	b, err := m.send(ctx)
	switch {
	case err != nil:
		return 0, err
	case b.Now.Before(state.Deadline()):
		return 0, store.ErrTooEarly
	}
	return credit(state, b.Outage), nil
}

// Outage returns the last outage, and the time until which it is the last. It sends a heartbeat
// first, so that an outage that has ended is known.
func (m *Monitor) Outage(ctx context.Context) (store.Span, time.Time, error) {
	b, err := m.send(ctx)
	if err != nil {
		return store.Span{}, time.Time{}, err
	}
	return b.Outage, b.Now, nil
}

// LastOutage returns the last outage that this server knows of.
func (m *Monitor) LastOutage() store.Span {
	if last := m.last.Load(); last != nil {
		return last.Outage
	}
	return store.Span{}
}

// credit returns how much time must be added to the clock that is running in the given state. A
// clock that ran during the outage gets a full turn from its end. If another server has already
// added that, the result is 0.
func credit(state *replay.State, outage store.Span) time.Duration {
	if !state.Memory().ClockFrom.Before(outage.To) || !outage.From.Before(state.Deadline()) {
		return 0
	}
	return max(outage.To.Add(state.TurnLimit).Sub(state.Deadline()), 0)
}

// creditClocks credits the last outage to the running clocks of this server's games, so that
// clients see the right time. Games that are not in any server's memory are credited when their
// clock has run out.
func (m *Monitor) creditClocks(ctx context.Context, hub *match.Hub) {
	last := m.last.Load()
	if last == nil || last.Now.Sub(last.Outage.To) > clockRuns {
		return
	}
	var group errgroup.Group
	group.SetLimit(creditors)
	for _, state := range hub.WithRunningClock() {
		if by := credit(state, last.Outage); by > 0 {
			group.Go(func() error {
				m.logCredit(ctx, state.ID, extend(ctx, hub, state, by))
				return nil
			})
		}
	}
	_ = group.Wait()
}

// logCredit logs an error of extend if the game's clock is still running.
func (m *Monitor) logCredit(ctx context.Context, gameID string, err error) {
	var conflict *match.VersionConflictError
	var damaged *gamelog.DamagedError
	switch {
	case err == nil, ctx.Err() != nil, errors.As(err, &conflict), errors.Is(err, replay.ErrGameOver):
	case errors.As(err, &damaged), errors.Is(err, replay.ErrUnknown), errors.Is(err, gamelog.ErrNotFound):
		// Until the log is intact again, the match has no running clock to credit.
		m.Logger.Debug("no clock to credit", "game", gameID, "error", err)
	default:
		m.Logger.Warn("cannot credit a clock; will retry", "id", "clock-not-credited", "game", gameID, "error", err)
	}
}

// extend adds time to the clock that is running in the given state.
func extend(ctx context.Context, hub *match.Hub, state *replay.State, by time.Duration) error {
	m, err := hub.Acquire(ctx, state.ID)
	if err != nil {
		return err
	}
	defer m.Release()
	_, err = m.Do(ctx, match.Call{Version: state.Version, Seat: state.Turn(), Action: replay.ClockExtended{By: by}})
	return err
}
