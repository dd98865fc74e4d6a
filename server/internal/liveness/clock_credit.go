package liveness

import (
	"context"
	"time"

	"github.com/gridstand/gridstand/game/replay"
	"github.com/gridstand/gridstand/server/internal/store"
)

// Credit returns the time that must be added to the running clock in the given state, so that it
// has a full turn after the last outage. It sends a heartbeat first, so that every outage that
// began before the deadline is known.
//
// Errors: store.ErrTooEarly before the deadline, or an error from the store or the context.
func (m *Monitor) Credit(ctx context.Context, state *replay.State) (time.Duration, error) {
	b, err := m.send(ctx, false)
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
	b, err := m.send(ctx, false)
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
	if !state.Clock.From.Before(outage.To) || !outage.From.Before(state.Deadline()) {
		return 0
	}
	return max(outage.To.Add(state.TurnLimit).Sub(state.Deadline()), 0)
}
