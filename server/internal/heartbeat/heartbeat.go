package heartbeat

import (
	"context"
	"log/slog"
	"maps"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gridstand/gridstand/server/internal/match"
	"github.com/gridstand/gridstand/server/internal/periodic"
	"github.com/gridstand/gridstand/server/internal/store"
)

const (
	// Interval is the time between two heartbeats of a server.
	Interval = 500 * time.Millisecond
	// timeout is how long the store may take to answer a heartbeat.
	timeout = time.Second
	// missingAfter is how long a server may go without a heartbeat before other servers
	// take over its leases.
	missingAfter = 1500 * time.Millisecond
	// A period longer than outageAfter in which no server sends a heartbeat or appends an entry
	// counts as an outage and is credited to running clocks.
	outageAfter = 3 * time.Second
	// settleAfter is the delay between the end of an outage and the crediting of clocks. By
	// then, every server has reported its appends that succeeded during the outage.
	settleAfter = 2 * time.Second
	// clockRuns is an upper limit on how long a clock may run.
	clockRuns = 8 * 24 * time.Hour
	// maxServers limits the number of stored servers. Servers that were killed stay until
	// newer ones replace them.
	maxServers = 256
)

// Config configures a Monitor. All fields except Alone and Keep are required.
type Config struct {
	// ServerID is unique to this server.
	ServerID   string
	Heartbeats store.Heartbeats
	Logger     *slog.Logger
	// OnMissing is called when other servers have stopped sending heartbeats, so that this
	// server can take over their leases. It must not block.
	OnMissing func()
	// Alone is set if no other server can use the store, which means that no server was running
	// before this one's first heartbeat.
	Alone bool
	// Keep is how long outages and missing servers are stored. If Keep is less than eight
	// days, which is longer than any clock may run, they are stored for eight days.
	Keep time.Duration
}

// Monitor sends the heartbeats of one server and keeps their results. It is safe for
// concurrent use.
type Monitor struct {
	Config
	// last is the last heartbeat, or nil before the first.
	last atomic.Pointer[Result]
	// appends records when this server's appends succeeded since the last heartbeat.
	appends activity
	// suspect is the last heartbeat before the store's process was replaced, or nil if that has
	// not happened since the last call to Verified.
	suspect atomic.Pointer[Result]
}

// New returns a Monitor, which sends heartbeats while Run is running.
func New(c Config) *Monitor { return &Monitor{Config: c} }

// Run sends heartbeats and credits outages to the clocks of the hub's games until ctx is done.
func (m *Monitor) Run(ctx context.Context, hub *match.Hub) {
	var group sync.WaitGroup
	defer group.Wait()
	// Send heartbeats and credit clocks independently, because a delay in crediting clocks must
	// not look like an outage.
	group.Go(func() { periodic.Run(ctx, Interval, func() { m.creditClocks(ctx, hub) }) })
	m.sendEvery(ctx, missingAfter)
}

// RunStopping only sends heartbeats until ctx is done, for a server that is stopping. It leaves
// missing servers to others, which can take over their leases.
func (m *Monitor) RunStopping(ctx context.Context) { m.sendEvery(ctx, clockRuns) }

func (m *Monitor) sendEvery(ctx context.Context, missingAfter time.Duration) {
	periodic.Run(ctx, Interval, func() {
		if _, err := m.sendWith(ctx, missingAfter); err != nil {
			m.Logger.Debug("cannot send heartbeat", "error", err)
		}
	})
}

// NoteAppend records that one of this server's appends succeeded at the given time, by the
// store's clock.
func (m *Monitor) NoteAppend(at time.Time) { m.appends.note(at) }

// Last returns the last heartbeat, or nil before the first.
func (m *Monitor) Last() *Result { return m.last.Load() }

// Result is the result of one of this server's heartbeats.
type Result struct {
	store.HeartbeatResult
	// Local is the local time just before the heartbeat was sent.
	Local time.Time
}

// send sends a heartbeat and returns the store's time. When it returns, any earlier outage
// and any rollback of the store have been recorded.
func (m *Monitor) send(ctx context.Context) (time.Time, error) {
	return m.sendWith(ctx, missingAfter)
}

// sendWith is send with another time after which servers count as missing.
func (m *Monitor) sendWith(ctx context.Context, missingAfter time.Duration) (time.Time, error) {
	last, appends := m.last.Load(), m.appends.spans()
	b, err := m.record(ctx, last, store.Heartbeat{Appends: appends, MissingAfter: missingAfter})
	if err != nil {
		return time.Time{}, err
	}
	// Two concurrent heartbeats may return in either order. Keep only the result of the one
	// that returns first.
	if m.last.CompareAndSwap(last, b) {
		m.appends.forget(appends)
		m.compareRun(last, b)
	}
	m.report(b, last)
	return b.Now, nil
}

// report logs the findings of a heartbeat and calls OnMissing if servers are missing.
func (m *Monitor) report(b, last *Result) {
	switch {
	case b.Outage == 0:
	case m.Alone && last == nil:
		m.Logger.Info("crediting running clocks for the time without a server", "for", b.Outage)
	default:
		m.Logger.Warn("no server sent a heartbeat; crediting running clocks for the outage", "id", "outage-credited", "for", b.Outage)
	}
	if b.RolledBack {
		m.Logger.Error("store rollback: acknowledged writes were lost", "id", "redis-rolled-back", "before", last.At.UTC())
	}
	if b.Missing > 0 {
		m.OnMissing()
		m.Logger.Info("taking over the bots and clocks of servers without a recent heartbeat", "servers", b.Missing)
	}
}

// record stores a heartbeat with the given Appends, Lost and MissingAfter. last is the previous one,
// or nil for the first.
func (m *Monitor) record(ctx context.Context, last *Result, b store.Heartbeat) (*Result, error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	b.ServerID, b.OutageAfter, b.Keep, b.MaxServers = m.ServerID, outageAfter, max(m.Keep, clockRuns), maxServers
	if last != nil {
		b.Acknowledged, b.Since, b.Known = last.At, last.Since, maps.Clone(last.Servers)
		maps.DeleteFunc(b.Known, func(id string, s store.ServerHeartbeat) bool { return s.Left || id == m.ServerID })
	}
	sent := time.Now()
	result, err := m.Heartbeats.Record(ctx, b)
	if err != nil {
		return nil, err
	}
	return &Result{result, sent}, nil
}

// Leave records that this server has shut down cleanly, so that other servers do not wait
// for its heartbeats. It does nothing if the store may have lost writes since the last heartbeat
// or is recovering from a rollback, because the data in this server's memory may then be lost.
// It must be called after Run and RunStopping have returned and after the last append.
func (m *Monitor) Leave(ctx context.Context) {
	if m.last.Load() == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), timeout)
	defer cancel()
	_, err := m.sendWith(ctx, clockRuns)
	if err == nil {
		last := m.last.Load()
		if last.Rollback.Pending() || m.Suspect() != nil {
			return
		}
		err = m.Heartbeats.Leave(ctx, m.ServerID, last.Servers[m.ServerID])
	}
	if err != nil {
		m.Logger.Debug("cannot record that this server has shut down", "error", err)
	}
}
