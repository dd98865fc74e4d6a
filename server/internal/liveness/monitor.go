package liveness

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync/atomic"
	"time"

	"github.com/gridstand/gridstand/internal/periodic"
	"github.com/gridstand/gridstand/server/internal/store"
)

const (
	// interval is the time between two heartbeats of a server.
	interval = 500 * time.Millisecond
	// timeout is how long the store may take to answer a heartbeat.
	timeout = time.Second
	// missingAfter is how long a server may go without a heartbeat before other servers
	// take over its leases.
	missingAfter = 1500 * time.Millisecond
	// A period longer than outageAfter in which no server sends a heartbeat counts as an outage.
	outageAfter = 3 * time.Second
	// An outage that begins within outageJoins of the end of another continues it: a server that
	// crashes at each start may not have got to the clocks that ran out in the first. It is longer
	// than a lease of a job.
	outageJoins = 30 * time.Second
	// clockRuns is an upper limit on how long a clock may run.
	clockRuns = 8 * 24 * time.Hour
	// maxServers limits the number of stored servers. Servers that were killed stay until
	// newer ones replace them.
	maxServers = 256
)

// Config configures a Monitor. All fields except Alone are required.
type Config struct {
	// ServerID is unique to this server.
	ServerID   string
	Heartbeats store.Heartbeats
	Logger     *slog.Logger
	// Alone is set if no other server can use the store, which means that no server was running
	// before this one's first heartbeat.
	Alone bool
}

// Monitor sends the heartbeats of one server and keeps their results. It is safe for
// concurrent use.
type Monitor struct {
	Config
	// Missing is set when other servers have stopped sending heartbeats. Package jobs clears it when it has
	// taken over their leases.
	Missing atomic.Bool
	// last is the last heartbeat, or nil before the first.
	last      atomic.Pointer[store.HeartbeatResult]
	suspicion atomic.Pointer[suspicion]
	// refused reports whether the store refused the last heartbeat that it answered. Only sendEvery uses it.
	refused bool
}

// New returns a Monitor, which sends heartbeats while Run is running.
func New(c Config) *Monitor { return &Monitor{Config: c} }

// Run sends heartbeats until ctx is done.
func (m *Monitor) Run(ctx context.Context) {
	m.sendEvery(ctx, store.Heartbeat{MissingAfter: missingAfter})
}

// RunStopping is Run for a server that is stopping. It leaves missing servers to others, which can
// take over their leases.
func (m *Monitor) RunStopping(ctx context.Context) { m.sendEvery(ctx, store.Heartbeat{}) }

func (m *Monitor) sendEvery(ctx context.Context, b store.Heartbeat) {
	periodic.Run(ctx, interval, func() {
		_, err := m.sendWith(ctx, b)
		m.reportRefusal(err)
	})
}

// reportRefusal logs when the store, which answers, begins to refuse writes, and when it accepts them again.
// err is the error of a heartbeat.
func (m *Monitor) reportRefusal(err error) {
	failure, ok := errors.AsType[*store.Error](err)
	refuses := ok && !slices.Contains([]store.Kind{store.Connection, store.Timeout, store.Corrupt}, failure.Kind)
	switch {
	case refuses && !m.refused && m.Alone:
		m.Logger.Warn("cannot write the file; moves are refused until it can be written",
			"id", "file-not-written", "error", err)
	case refuses && !m.refused:
		m.Logger.Warn("redis refuses writes; moves are refused until it accepts them",
			"id", "redis-not-written", "error", err)
	case err == nil && m.refused:
		m.Logger.Info("the store accepts writes again")
	case err != nil:
		m.Logger.Debug("cannot send heartbeat", "error", err)
	}
	m.refused = refuses || m.refused && err != nil
}

// Check returns nil if the store accepts writes, or the error that it returns for a heartbeat.
func (m *Monitor) Check(ctx context.Context) error {
	_, err := m.send(ctx)
	return err
}

// send sends a heartbeat and returns its result, which contains any outage that began before it. It leaves
// missing servers to Run: package jobs takes over their leases only while that is running.
func (m *Monitor) send(ctx context.Context) (*store.HeartbeatResult, error) {
	return m.sendWith(ctx, store.Heartbeat{})
}

// sendWith is send with the given MissingAfter, if it is set, and Leaves.
func (m *Monitor) sendWith(ctx context.Context, beat store.Heartbeat) (*store.HeartbeatResult, error) {
	last := m.last.Load()
	b, err := m.record(ctx, last, beat)
	switch {
	case err != nil:
		return nil, err
	case b.RolledBack:
		if m.last.CompareAndSwap(last, nil) {
			m.suspect(last).confirm(m.Logger)
		}
		return m.sendWith(ctx, beat) // The next one is stored like a first heartbeat.
	}
	// Two concurrent heartbeats may return in either order. Keep only the result of the one
	// that returns first.
	if m.last.CompareAndSwap(last, b) && last != nil && last.Run != "" && b.Run != last.Run {
		m.suspect(last)
	}
	m.report(b, last)
	return b, nil
}

// report logs the findings of a heartbeat and sets Missing if servers are missing.
func (m *Monitor) report(b, last *store.HeartbeatResult) {
	switch o := b.Outage; {
	case o.To.IsZero() || !o.To.Equal(b.Now):
	case m.Alone && last == nil:
		m.Logger.Info("no server was running; running clocks get a full turn", "for", o.To.Sub(o.From))
	default:
		m.Logger.Warn("no server sent a heartbeat; running clocks get a full turn", "id", "outage-credited", "for", o.To.Sub(o.From))
	}
	if b.Missing > 0 {
		m.Missing.Store(true)
		m.Logger.Info("taking over the bots and clocks of servers without a recent heartbeat", "servers", b.Missing)
	}
}

// record stores a heartbeat with the given MissingAfter, if it is set, and Leaves. last is the previous
// one, or nil for the first.
func (m *Monitor) record(ctx context.Context, last *store.HeartbeatResult, b store.Heartbeat) (*store.HeartbeatResult, error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	b.ServerID, b.OutageAfter, b.Joins, b.Keep, b.MaxServers = m.ServerID, outageAfter, outageJoins, clockRuns, maxServers
	b.MissingAfter = cmp.Or(b.MissingAfter, clockRuns)
	if last != nil {
		b.Acknowledged = last.At
	}
	result, err := m.Heartbeats.Record(ctx, b)
	return &result, err
}

// Leave records that this server has shut down cleanly, so that other servers do not take over its
// leases. It must be called after Run and RunStopping have returned and after the last append.
func (m *Monitor) Leave(ctx context.Context) {
	if m.last.Load() == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), timeout)
	defer cancel()
	if _, err := m.sendWith(ctx, store.Heartbeat{Leaves: true}); err != nil {
		m.Logger.Debug("cannot record that this server has shut down", "error", err)
	}
}
