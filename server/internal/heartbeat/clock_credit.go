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

// creditors is the number of clocks that are credited concurrently.
const creditors = 8

// Credit returns the time that must be added to the running clock in the given state: the total
// duration of the outages since the clock started, minus the time that was already added. It
// sends a heartbeat first, so that every outage that began before the deadline is recorded.
//
// Errors: store.ErrTooEarly before the deadline and while an outage is not settled, or an
// error from the store or the context.
func (m *Monitor) Credit(ctx context.Context, state *replay.State) (time.Duration, error) {
	now, err := m.send(ctx)
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

// Downtime returns the total duration of outages since the given time. It sends a heartbeat
// first, so that every outage that has ended is recorded.
func (m *Monitor) Downtime(ctx context.Context, since time.Time) (time.Duration, error) {
	if _, err := m.send(ctx); err != nil {
		return 0, err
	}
	recorded, err := m.outages(ctx, since)
	return recorded.since(since), err
}

// Outages returns the settled outages since the given time, and the time until which all
// outages are known. It sends a heartbeat first.
func (m *Monitor) Outages(ctx context.Context, since time.Time) ([]store.Span, time.Time, error) {
	now, err := m.send(ctx)
	if err != nil {
		return nil, time.Time{}, err
	}
	recorded, err := m.outages(ctx, since)
	if err != nil {
		return nil, time.Time{}, err
	}
	known, settled := now, recorded.settled(now)
	for _, o := range recorded {
		if !slices.Contains(settled, o) && o.From.Before(known) {
			known = o.From
		}
	}
	return settled, known, nil
}

// creditClocks credits settled outages to the running clocks of this server's games, so
// that clients see the right time. Games that are not in any server's memory are credited
// when their clock has run out.
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
				// Until the log is intact again, the match has no running clock to credit.
				m.Logger.Debug("no clock to credit", "game", state.ID, "error", err)
			default:
				m.Logger.Warn("cannot credit a clock; will retry", "id", "clock-not-credited", "game", state.ID, "error", err)
			}
			return nil
		})
	}
	_ = group.Wait()
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

// outages are periods in which no server could append.
type outages []store.Span

// credit returns how much time must still be added to the clock that is running in the given
// state.
func (o outages) credit(state *replay.State) time.Duration {
	clock := state.Memory()
	return o.since(clock.ClockFrom) - clock.ClockExtended
}

// settled returns the outages that ended at least settleAfter ago, by which time every server
// has reported its appends.
func (o outages) settled(now time.Time) outages {
	return slices.DeleteFunc(slices.Clone(o), func(s store.Span) bool { return s.To.Add(settleAfter).After(now) })
}

// since returns the total outage time after the given time.
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

// outages returns the recorded outages that ended at or after the given time.
func (m *Monitor) outages(ctx context.Context, since time.Time) (outages, error) {
	return m.Heartbeats.Outages(ctx, since)
}
