package steward

import (
	"context"
	_ "embed" // script
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/gridstand/gridstand/game/replay"
)

var (
	//go:embed beat.lua
	beatSource string
	beatScript = redis.NewScript(beatSource)
)

// The braces keep the keys in one slot of a cluster.
const (
	heartbeatsKey = "heartbeats:{beat}"
	outagesKey    = "outages:{beat}"
	rewoundKey    = "rewound:{beat}"
)

const (
	// beatEvery is the interval between a server's heartbeats, and beatTimeout
	// how long Redis has to answer one.
	beatEvery   = 500 * time.Millisecond
	beatTimeout = time.Second
	// missingAfter is how long a server may send no heartbeat before the others
	// do what it had leased.
	missingAfter = 1500 * time.Millisecond
	// outageAfter is how long no server may send a heartbeat, or append, before
	// that time is credited to running clocks.
	outageAfter = 3 * time.Second
	// outageSettles is how long after an outage clocks are credited: by then
	// every server has told which of its appends succeeded during it.
	outageSettles = 2 * time.Second
	// outagesKept is longer than any clock runs.
	outagesKept = 8 * 24 * time.Hour
	// maxServers bounds how many servers are remembered. Those that are killed
	// stay until newer ones take their place.
	maxServers = 256
)

// heartbeat is what a heartbeat of this server returned.
type heartbeat struct {
	// now is Redis's time, and local that of this process just before.
	now, local time.Time
	// at is the heartbeat as Redis stored it, and since this server's first one,
	// both in Unix milliseconds.
	at, since int64
	// outage is how long nothing could be appended, if that ends now.
	outage time.Duration
	// rolledBack reports that this server is the first to see a rollback.
	rolledBack bool
	// missing is how many servers have stopped sending heartbeats since the last
	// heartbeat of any server.
	missing int
	// run names the Redis process, "" if unknown.
	run string
	// last is the last rollback.
	last rewind
	// servers are the heartbeats of all servers by id.
	servers map[string]presence
}

// presence is what the heartbeats say of a server.
type presence struct {
	at, since time.Time
	// left reports that it stopped in order.
	left bool
}

func (p presence) String() string { return fmt.Sprintf("%d %d", p.at.UnixMilli(), p.since.UnixMilli()) }

// parsePresence reads what beat.lua stores of a server.
func parsePresence(value string) (p presence, err error) {
	words := strings.Fields(value)
	if len(words) < 2 {
		return p, fmt.Errorf("not a heartbeat: %q", value)
	}
	if p.at, err = unixMilli(words[0]); err == nil {
		p.since, err = unixMilli(words[1])
	}
	p.left = len(words) > 2 && words[2] == "left"
	return p, err
}

// beat sends a heartbeat and returns the time of Redis's clock. Every outage
// before that is noted then, and a rollback of Redis.
func (s *Steward) beat(ctx context.Context) (time.Time, error) {
	seen := s.seen.Load()
	h, err := s.agenda.heartbeat(ctx, s.ServerID, seen, s.appends.spans(), false)
	if err != nil {
		return time.Time{}, err
	}
	// Of two at once either may be the first to return.
	if s.seen.CompareAndSwap(seen, h) {
		s.appends.forget(h.now)
		if seen != nil && seen.run != "" && h.run != seen.run {
			s.suspect.CompareAndSwap(nil, seen)
		}
	}
	s.report(h, seen)
	return h.now, nil
}

// report logs what a heartbeat showed, and has the leases of missing servers
// taken over.
func (s *Steward) report(h, seen *heartbeat) {
	if h.outage > 0 {
		s.Logger.Warn("no server sent a heartbeat; crediting running clocks for the time without moves", "id", "outage-credited", "for", h.outage)
	}
	if h.rolledBack {
		s.Logger.Error("redis went back in time: it lost what it acknowledged", "id", "redis-rolled-back", "before", time.UnixMilli(seen.at).UTC())
	}
	if h.missing > 0 {
		s.orphaned.Store(true)
		s.Logger.Info("servers are missing; taking over what they had leased", "servers", h.missing)
	}
}

// heartbeat sends a heartbeat of a server whose last one returned seen, nil for
// its first, and whose appends succeeded in spans since. lost says that Redis has
// lost an entry that was acknowledged after seen.
func (a agenda) heartbeat(ctx context.Context, server string, seen *heartbeat, spans []span, lost bool) (*heartbeat, error) {
	ctx, cancel := context.WithTimeout(ctx, beatTimeout)
	defer cancel()
	if seen == nil {
		seen = &heartbeat{}
	}
	flag := 0
	if lost {
		flag = 1
	}
	args := []any{
		server, seen.at, seen.since, flag, missingAfter.Milliseconds(), outageAfter.Milliseconds(),
		outagesKept.Milliseconds(), maxServers, len(spans),
	}
	for _, s := range spans {
		args = append(args, s.from.UnixMilli(), s.to.UnixMilli())
	}
	for id, p := range seen.servers {
		if id != server && !p.left {
			args = append(args, id, p.String())
		}
	}
	h := &heartbeat{local: time.Now()}
	reply, err := beatScript.Run(ctx, a.client, []string{heartbeatsKey, outagesKey, rewoundKey}, args...).StringSlice()
	if err == nil {
		err = h.parse(reply)
	}
	if err != nil {
		return nil, fmt.Errorf("sending a heartbeat: %w", err)
	}
	return h, nil
}

// parse reads the reply of beat.lua.
func (h *heartbeat) parse(reply []string) (err error) {
	const fixed = 11
	if len(reply) < fixed || len(reply)%2 == 0 {
		return fmt.Errorf("a reply of %d words", len(reply))
	}
	number := func(i int) int64 {
		n, problem := strconv.ParseInt(reply[i], 10, 64)
		err = errors.Join(err, problem)
		return n
	}
	h.now, h.outage = time.UnixMilli(number(0)), time.Duration(number(1))*time.Millisecond
	h.at, h.since, h.rolledBack, h.missing, h.run = number(2), number(3), number(4) == 1, int(number(5)), reply[6]
	h.last = rewind{
		at: time.UnixMilli(number(7)), copied: time.UnixMilli(number(8)), before: time.UnixMilli(number(9)),
		swept: number(10) == number(7),
	}
	h.servers = make(map[string]presence, (len(reply)-fixed)/2)
	for i := fixed; i < len(reply); i += 2 {
		p, problem := parsePresence(reply[i+1])
		err = errors.Join(err, problem)
		h.servers[reply[i]] = p
	}
	return err
}

// Leave says that this server has stopped in order: the others need not wait for
// its heartbeats. While a rollback is being dealt with it says nothing, since what
// the server knew of it may be lost then. It is called after Run and after the
// last append.
func (s *Steward) Leave(ctx context.Context) {
	seen := s.seen.Load()
	if seen == nil || seen.last.pending() {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), beatTimeout)
	defer cancel()
	err := s.Client.HSet(ctx, heartbeatsKey, s.ServerID, seen.servers[s.ServerID].String()+" left").Err()
	if err != nil {
		s.Logger.Debug("cannot say that this server left", "error", err)
	}
}

// span is a time in which this server's appends succeeded, never outageAfter
// apart.
type span struct{ from, to time.Time }

// maxSpans bounds the spans that are remembered while no heartbeat succeeds.
const maxSpans = 100

// activity remembers when this server's appends succeeded, by Redis's clock,
// since its last heartbeat.
type activity struct {
	mu  sync.Mutex
	all []span
}

// note notes an append that succeeded at a moment.
func (a *activity) note(at time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if n := len(a.all); n > 0 && at.Sub(a.all[n-1].to) <= outageAfter {
		last := &a.all[n-1]
		if at.After(last.to) {
			last.to = at
		}
		return
	}
	if len(a.all) == maxSpans {
		a.all = a.all[1:]
	}
	a.all = append(a.all, span{at, at})
}

func (a *activity) spans() []span {
	a.mu.Lock()
	defer a.mu.Unlock()
	return append([]span(nil), a.all...)
}

// forget forgets what came before a heartbeat that told it.
func (a *activity) forget(before time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for len(a.all) > 0 && a.all[0].to.Before(before) {
		a.all = a.all[1:]
	}
}

// noteAppend notes that an append led to a state.
func (s *Steward) noteAppend(state *replay.State) { s.appends.note(state.UpdateTime) }
