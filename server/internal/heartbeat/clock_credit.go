package heartbeat

import (
	"context"
	"errors"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/gridstand/gridstand/game/replay"
	"github.com/gridstand/gridstand/server/internal/gamelog"
	"github.com/gridstand/gridstand/server/internal/match"
	"github.com/gridstand/gridstand/server/internal/store"
)

// creditors is how many clocks are credited at the same time.
const creditors = 8

// Credit returns the time that must be added to the clock that runs in a state:
// the outages since it started, less what was added before. It sends a heartbeat
// first, so that every outage that began before the deadline is recorded.
//
// Errors: store.ErrTooEarly before the deadline and while an outage is not
// settled, or one of the store or the context.
func (m *Monitor) Credit(ctx context.Context, state *replay.State) (time.Duration, error) {
	now, err := m.beat(ctx)
	if err != nil {
		return 0, err
	}
	if now.Before(state.Deadline()) {
		return 0, store.ErrTooEarly
	}
	recorded, err := m.outages(ctx, state.Memory().ClockFrom)
	if err != nil {
		return 0, err
	}
	if len(recorded.settled(now)) < len(recorded) {
		return 0, store.ErrTooEarly
	}
	return recorded.credit(state), nil
}

// Downtime returns how much of the time since a moment was an outage. It sends a
// heartbeat first, so that every outage that has ended is recorded.
func (m *Monitor) Downtime(ctx context.Context, since time.Time) (time.Duration, error) {
	if _, err := m.beat(ctx); err != nil {
		return 0, err
	}
	recorded, err := m.outages(ctx, since)
	return recorded.since(since), err
}

// creditClocks credits outages to the running clocks of this server's games once
// the outages are settled, so that clients see the right time. Games that no server
// has in memory get theirs when their clock has run out.
func (m *Monitor) creditClocks(ctx context.Context, hub *match.Hub) {
	last := m.last.Load()
	if last == nil {
		return
	}
	recorded, err := m.outages(ctx, last.Now.Add(-clockRuns))
	if err != nil {
		m.Logger.Debug("cannot read outages", "error", err)
		return
	}
	settled := recorded.settled(last.Now)
	if len(settled) == 0 {
		return
	}
	var group errgroup.Group
	group.SetLimit(creditors)
	for _, state := range hub.WithRunningClock() {
		credit := settled.credit(state)
		if credit <= 0 {
			continue
		}
		group.Go(func() error {
			err := extend(ctx, hub, state, credit)
			var conflict *match.VersionConflictError
			var damaged *gamelog.DamagedError
			switch {
			case err == nil, ctx.Err() != nil, errors.As(err, &conflict), errors.Is(err, replay.ErrGameOver):
			case errors.As(err, &damaged), errors.Is(err, replay.ErrUnknown), errors.Is(err, gamelog.ErrNotFound):
				// The match shows no clock until its log is complete again.
				m.Logger.Debug("no clock to credit", "game", state.ID, "error", err)
			default:
				m.Logger.Warn("clock not credited yet", "id", "clock-not-credited", "game", state.ID, "error", err)
			}
			return nil
		})
	}
	_ = group.Wait()
}

// extend adds time to the clock that runs in a state.
func extend(ctx context.Context, hub *match.Hub, state *replay.State, by time.Duration) error {
	m, err := hub.Acquire(ctx, state.ID)
	if err != nil {
		return err
	}
	defer m.Release()
	_, err = m.Do(ctx, match.Call{Version: state.Version, Seat: state.Turn(), Action: replay.ClockExtended{By: by}})
	return err
}

// outages are times in which no server could append.
type outages []store.Span

// credit is the time that must still be added to the clock that runs in a state.
func (o outages) credit(state *replay.State) time.Duration {
	clock := state.Memory()
	return o.since(clock.ClockFrom) - clock.ClockExtended
}

// settled returns the outages during which all servers have reported their appends
// by now.
func (o outages) settled(now time.Time) outages {
	return slices.DeleteFunc(slices.Clone(o), func(s store.Span) bool { return s.To.Add(settleAfter).After(now) })
}

// since is how much of the time since a moment was an outage.
func (o outages) since(began time.Time) time.Duration {
	var total time.Duration
	for _, s := range o {
		from := s.From
		if from.Before(began) {
			from = began
		}
		total += max(s.To.Sub(from), 0)
	}
	return total
}

// outages returns the recorded outages that ended at the given time or later.
func (m *Monitor) outages(ctx context.Context, since time.Time) (outages, error) {
	return m.Heartbeats.Outages(ctx, since)
}
