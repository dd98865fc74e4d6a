package heartbeat

import (
	"context"
	_ "embed" // script
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/gridstand/gridstand/server/internal/match"
	"github.com/gridstand/gridstand/server/internal/periodic"
)

var (
	//go:embed heartbeat.lua
	source string
	script = redis.NewScript(source)
)

// The braces keep the keys in one slot of a cluster.
const (
	serversKey  = "heartbeats:{beat}"
	outagesKey  = "outages:{beat}"
	rollbackKey = "rewound:{beat}"
)

const (
	// Interval between a server's heartbeats.
	Interval = 500 * time.Millisecond
	// timeout is how long Redis has to answer a heartbeat.
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
	// outagesKept is longer than any clock runs.
	outagesKept = 8 * 24 * time.Hour
	// maxServers bounds how many servers are stored. Those that were killed stay
	// until newer ones take their place.
	maxServers = 256
)

// Config is what a Monitor works with. All fields are needed.
type Config struct {
	// ServerID tells this server from the others.
	ServerID string
	Client   redis.UniversalClient
	Logger   *slog.Logger
	// OnMissing is called when servers have stopped sending heartbeats: others
	// may take over their leases. It must not block.
	OnMissing func()
}

// Monitor sends the heartbeats of one server and keeps what they returned. Its
// methods may be called concurrently.
type Monitor struct {
	Config
	// last is the last heartbeat, nil before the first.
	last atomic.Pointer[Beat]
	// appends is when this server's appends succeeded since then.
	appends activity
	// suspect is the last heartbeat before Redis became another process, until
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

// NoteAppend notes that an append of this server succeeded, by Redis's clock.
func (m *Monitor) NoteAppend(at time.Time) { m.appends.note(at) }

// Last returns the last heartbeat, nil before the first.
func (m *Monitor) Last() *Beat { return m.last.Load() }

// Suspect returns the last heartbeat before Redis became another process, which
// may have lost what was written after that heartbeat. It is nil if Redis is the
// same process as ever, and after Verified.
func (m *Monitor) Suspect() *Beat { return m.suspect.Load() }

// Verified says that this server has compared its games with their logs since
// Redis became another process after suspect, and whether entries were lost. If
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
	// Now is Redis's time, and Local that of this process just before.
	Now, Local time.Time
	// Rollback is the last rollback of Redis.
	Rollback Rollback
	// Servers are all servers by id.
	Servers map[string]Server

	// at is the heartbeat as Redis stored it, and since this server's first one,
	// both in Unix milliseconds.
	at, since int64
	// outage is how long nothing could be appended, if that ends now.
	outage time.Duration
	// rolledBack reports that this server is the first to see a rollback.
	rolledBack bool
	// missing is how many servers have become missing since the last heartbeat of
	// any server.
	missing int
	// run names the Redis process, "" if unknown.
	run string
}

// beat sends a heartbeat and returns the time of Redis's clock. Every outage
// before that is recorded then, and a rollback of Redis.
func (m *Monitor) beat(ctx context.Context) (time.Time, error) {
	last := m.last.Load()
	b, err := m.send(ctx, last, m.appends.spans(), false)
	if err != nil {
		return time.Time{}, err
	}
	// Of two concurrent heartbeats either may be the first to return.
	if m.last.CompareAndSwap(last, b) {
		m.appends.forget(b.Now)
		if last != nil && last.run != "" && b.run != last.run {
			m.suspect.CompareAndSwap(nil, last)
		}
	}
	m.report(b, last)
	return b.Now, nil
}

// report logs what a heartbeat showed, and has the leases of missing servers
// taken over.
func (m *Monitor) report(b, last *Beat) {
	if b.outage > 0 {
		m.Logger.Warn("no server sent a heartbeat; crediting running clocks for the outage", "id", "outage-credited", "for", b.outage)
	}
	if b.rolledBack {
		m.Logger.Error("redis went back in time: it lost acknowledged writes", "id", "redis-rolled-back", "before", time.UnixMilli(last.at).UTC())
	}
	if b.missing > 0 {
		m.OnMissing()
		m.Logger.Info("servers are missing; taking over their leases", "servers", b.missing)
	}
}

// send sends a heartbeat after last, nil for the first, with the spans in which
// this server's appends succeeded since. lost says that Redis has lost an entry
// that it acknowledged after last.
func (m *Monitor) send(ctx context.Context, last *Beat, spans []span, lost bool) (*Beat, error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	if last == nil {
		last = &Beat{}
	}
	args := []any{
		m.ServerID, last.at, last.since, lost, missingAfter.Milliseconds(), outageAfter.Milliseconds(),
		outagesKept.Milliseconds(), maxServers, len(spans),
	}
	for _, s := range spans {
		args = append(args, s.from.UnixMilli(), s.to.UnixMilli())
	}
	for id, s := range last.Servers {
		if id != m.ServerID && !s.Left {
			args = append(args, id, s.String())
		}
	}
	b := &Beat{Local: time.Now()}
	reply, err := script.Run(ctx, m.Client, []string{serversKey, outagesKey, rollbackKey}, args...).StringSlice()
	if err == nil {
		err = b.parse(reply)
	}
	if err != nil {
		return nil, fmt.Errorf("sending a heartbeat: %w", err)
	}
	return b, nil
}

// parse reads the reply of heartbeat.lua.
func (b *Beat) parse(reply []string) (err error) {
	const fixed = 11
	if len(reply) < fixed || len(reply)%2 == 0 {
		return fmt.Errorf("a reply of %d words", len(reply))
	}
	number := func(i int) int64 {
		n, problem := strconv.ParseInt(reply[i], 10, 64)
		err = errors.Join(err, problem)
		return n
	}
	moment := func(i int) time.Time { return time.UnixMilli(number(i)) }
	b.Now, b.outage = moment(0), time.Duration(number(1))*time.Millisecond
	b.at, b.since, b.rolledBack, b.missing, b.run = number(2), number(3), number(4) == 1, int(number(5)), reply[6]
	b.Rollback = Rollback{At: moment(7), Copied: moment(8), Before: moment(9), Quarantined: reply[10] == reply[7]}
	b.Servers = make(map[string]Server, (len(reply)-fixed)/2)
	for i := fixed; i < len(reply); i += 2 {
		s, problem := parseServer(reply[i+1])
		err = errors.Join(err, problem)
		b.Servers[reply[i]] = s
	}
	return err
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
	err := m.Client.HSet(ctx, serversKey, m.ServerID, last.Servers[m.ServerID].String()+" left").Err()
	if err != nil {
		m.Logger.Debug("cannot say that this server left", "error", err)
	}
}
