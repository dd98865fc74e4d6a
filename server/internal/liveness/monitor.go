package liveness

import (
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
	// A server whose last heartbeat was within runningWithin counts as running.
	runningWithin = 1500 * time.Millisecond
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
	// last is the last heartbeat, or nil before the first.
	last      atomic.Pointer[store.HeartbeatResult]
	suspicion atomic.Pointer[suspicion]
	// refused reports whether the store refused the last heartbeat that it answered. Only Run uses it.
	refused bool
}

// New returns a Monitor, which sends heartbeats while Run is running.
func New(c Config) *Monitor { return &Monitor{Config: c} }

// Run sends heartbeats until ctx is done.
func (m *Monitor) Run(ctx context.Context) {
	periodic.Run(ctx, interval, func() { m.reportRefusal(m.Check(ctx)) })
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
	_, err := m.send(ctx, false)
	return err
}

// send sends a heartbeat and returns its result, which contains any outage that began before it. leaves is
// set in the last one.
func (m *Monitor) send(ctx context.Context, leaves bool) (*store.HeartbeatResult, error) {
	last := m.last.Load()
	b, err := m.record(ctx, last, leaves)
	switch {
	case err != nil:
		return nil, err
	case b.RolledBack:
		if m.last.CompareAndSwap(last, nil) {
			m.suspect(last).confirm(m.Logger)
		}
		return m.send(ctx, leaves) // The next one is stored like a first heartbeat.
	}
	// Two concurrent heartbeats may return in either order. Keep only the result of the one
	// that returns first.
	if m.last.CompareAndSwap(last, b) && last != nil && last.Run != "" && b.Run != last.Run {
		m.suspect(last)
	}
	m.report(b, last)
	return b, nil
}

// report logs an outage that a heartbeat has ended.
func (m *Monitor) report(b, last *store.HeartbeatResult) {
	switch o := b.Outage; {
	case o.To.IsZero() || !o.To.Equal(b.Now):
	case m.Alone && last == nil:
		m.Logger.Info("no server was running; running clocks get a full turn", "for", o.To.Sub(o.From))
	default:
		m.Logger.Warn("no server sent a heartbeat; running clocks get a full turn", "id", "outage-credited", "for", o.To.Sub(o.From))
	}
}

// record stores a heartbeat. last is the previous one, or nil for the first.
func (m *Monitor) record(
	ctx context.Context, last *store.HeartbeatResult, leaves bool,
) (*store.HeartbeatResult, error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	b := store.Heartbeat{
		ServerID: m.ServerID, Leaves: leaves,
		OutageAfter: outageAfter, Joins: outageJoins, Keep: clockRuns, MaxServers: maxServers,
	}
	if last != nil {
		b.Acknowledged = last.At
	}
	result, err := m.Heartbeats.Record(ctx, b)
	return &result, err
}

// Leave records that this server has shut down cleanly, so that it does not count as running. It must be
// called after Run has returned and after the last append.
func (m *Monitor) Leave(ctx context.Context) {
	if m.last.Load() == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), timeout)
	defer cancel()
	if _, err := m.send(ctx, true); err != nil {
		m.Logger.Debug("cannot record that this server has shut down", "error", err)
	}
}
