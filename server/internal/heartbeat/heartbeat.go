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
	// Interval between a server's heartbeats.
	Interval = 500 * time.Millisecond
	// timeout is how long the store has to answer a heartbeat.
	timeout = time.Second
	// missingAfter is how long a server may send no heartbeat before the others
	// take over its leases.
	missingAfter = 1500 * time.Millisecond
	// outageAfter is how long no server may send a heartbeat, or append, before
	// that time is credited to running clocks.
	outageAfter = 3 * time.Second
	// settleAfter is how long after an outage clocks are credited: by then every
	// server has reported which of its appends succeeded during it.
	settleAfter = 2 * time.Second
	// clockRuns is longer than any clock runs.
	clockRuns = 8 * 24 * time.Hour
	// maxServers bounds how many servers are stored. Those that were killed stay
	// until newer ones take their place.
	maxServers = 256
)

// Config is what a Monitor works with. All fields but Alone and Keep are needed.
type Config struct {
	// ServerID tells this server from the others.
	ServerID   string
	Heartbeats store.Heartbeats
	Logger     *slog.Logger
	// OnMissing is called when servers have stopped sending heartbeats: others
	// may take over their leases. It must not block.
	OnMissing func()
	// Alone says that no other server can use the store: none ran before this one's
	// first heartbeat.
	Alone bool
	// Keep is how long outages and missing servers are kept, at least and by default
	// eight days, which no clock outlasts.
	Keep time.Duration
}

// Monitor sends the heartbeats of one server and keeps what they returned. Its
// methods may be called concurrently.
type Monitor struct {
	Config
	// last is the last heartbeat, nil before the first.
	last atomic.Pointer[Beat]
	// appends is when this server's appends succeeded since then.
	appends activity
	// suspect is the last heartbeat before the store became another process, until
	// Verified is called; nil otherwise.
	suspect atomic.Pointer[Beat]
}

// New makes a Monitor. Run must be called for it to send heartbeats.
func New(c Config) *Monitor { return &Monitor{Config: c} }

// Run sends heartbeats, and credits outages to the clocks of the hub's games,
// until ctx ends.
func (m *Monitor) Run(ctx context.Context, hub *match.Hub) {
	var group sync.WaitGroup
	defer group.Wait()
	// Apart from each other: crediting clocks that takes long must not pass for an
	// outage.
	group.Go(func() { periodic.Run(ctx, Interval, func() { m.creditClocks(ctx, hub) }) })
	periodic.Run(ctx, Interval, func() {
		if _, err := m.beat(ctx); err != nil {
			m.Logger.Debug("no heartbeat sent", "error", err)
		}
	})
}

// NoteAppend notes that an append of this server succeeded, by the store's clock.
func (m *Monitor) NoteAppend(at time.Time) { m.appends.note(at) }

// Last returns the last heartbeat, nil before the first.
func (m *Monitor) Last() *Beat { return m.last.Load() }

// Suspect returns the last heartbeat before the store became another process, which
// may have lost what was written after that heartbeat. It is nil if it is the same
// process as ever, and after Verified.
func (m *Monitor) Suspect() *Beat { return m.suspect.Load() }

// Verified says that this server has compared its games with their logs since
// the store became another process after suspect, and whether entries were lost. If
// so, that is recorded as a rollback.
func (m *Monitor) Verified(ctx context.Context, suspect *Beat, lost bool) error {
	if lost {
		b, err := m.send(ctx, suspect, nil, true)
		if err != nil {
			return err
		}
		m.report(b, suspect)
	}
	m.suspect.CompareAndSwap(suspect, nil)
	return nil
}

// Beat is what a heartbeat of this server returned.
type Beat struct {
	store.BeatResult
	// Local is the time of this process just before.
	Local time.Time
}

// beat sends a heartbeat and returns the time of the store's clock. Every
// outage before that is recorded then, and a rollback of the store.
func (m *Monitor) beat(ctx context.Context) (time.Time, error) {
	last := m.last.Load()
	b, err := m.send(ctx, last, m.appends.spans(), false)
	if err != nil {
		return time.Time{}, err
	}
	// Of two concurrent heartbeats either may be the first to return.
	if m.last.CompareAndSwap(last, b) {
		m.appends.forget(b.Now)
		if last != nil && last.Run != "" && b.Run != last.Run {
			m.suspect.CompareAndSwap(nil, last)
		}
	}
	m.report(b, last)
	return b.Now, nil
}

// report logs what a heartbeat showed, and has the leases of missing servers
// taken over.
func (m *Monitor) report(b, last *Beat) {
	switch {
	case b.Outage == 0:
	case m.Alone && last == nil:
		m.Logger.Info("crediting running clocks for the time without a server", "for", b.Outage)
	default:
		m.Logger.Warn("no server sent a heartbeat; crediting running clocks for the outage", "id", "outage-credited", "for", b.Outage)
	}
	if b.RolledBack {
		m.Logger.Error("the store went back in time: it lost acknowledged writes", "id", "redis-rolled-back", "before", last.At.UTC())
	}
	if b.Missing > 0 {
		m.OnMissing()
		m.Logger.Info("servers are missing; taking over their leases", "servers", b.Missing)
	}
}

// send sends a heartbeat after last, nil for the first, with the times in which
// this server's appends succeeded since. lost says that the store has lost an entry
// that it acknowledged after last.
func (m *Monitor) send(ctx context.Context, last *Beat, appends []store.Span, lost bool) (*Beat, error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	b := store.Beat{
		ServerID: m.ServerID, Lost: lost, Appends: appends,
		MissingAfter: missingAfter, OutageAfter: outageAfter, Keep: max(m.Keep, clockRuns), MaxServers: maxServers,
	}
	if last != nil {
		b.Acknowledged, b.Since, b.Known = last.At, last.Since, maps.Clone(last.Servers)
		maps.DeleteFunc(b.Known, func(id string, s store.ServerBeat) bool { return s.Left || id == m.ServerID })
	}
	sent := time.Now()
	result, err := m.Heartbeats.Beat(ctx, b)
	if err != nil {
		return nil, err
	}
	return &Beat{result, sent}, nil
}

// Leave says that this server has stopped in order, so that the others do not
// wait for its heartbeats. While a rollback is being dealt with it does nothing,
// since what the server knew of it may be lost then. It is called after Run and
// after the last append.
func (m *Monitor) Leave(ctx context.Context) {
	last := m.last.Load()
	if last == nil || last.Rollback.Pending() {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), timeout)
	defer cancel()
	err := m.Heartbeats.Leave(ctx, m.ServerID, last.Servers[m.ServerID])
	if err != nil {
		m.Logger.Debug("cannot say that this server left", "error", err)
	}
}
