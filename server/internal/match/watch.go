package match

import (
	"context"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gridstand/gridstand/game/replay"
	"github.com/gridstand/gridstand/server/internal/store"
)

// Watcher is shown a match. It takes events at its own pace, and the match never
// waits for it. It is for one goroutine.
type Watcher struct {
	// The fields that each event needs come first.
	m        *Match
	audience *Audience
	sending  atomic.Int64 // the tick of BeginSend, 0 outside of a send, or stalled
	left     atomic.Bool  // ctx has ended
	role     atomic.Int32 // a Role

	ctx     context.Context
	index   int // in watcherSet.all; guarded by its mu
	onStall func()
}

// Role says how a watcher is counted.
type Role int32

// The roles.
const (
	// Player is a player of the game, who is not counted.
	Player Role = iota
	// Spectator is counted in the audience, on all servers.
	Spectator
	// Preview is counted on its own server only, for the limit.
	Preview
)

// Audience is an announcement of how many watch a game on all servers. Each
// announcement is a new one, even if the number is the same.
type Audience struct {
	Watchers int

	encodedOnce
}

// Watch makes w, a zero Watcher that the caller later closes, a watcher. The caller
// owns the memory, so that it can keep it beside its own state of the watcher: to load
// both from different places costs 5 % of a delivery.
//
// A tick or two after ctx has ended the watcher is woken, and Next returns the
// context's error if it has nothing else. All roles are shown the same. If the watcher
// stalls, onStall is called from another goroutine, unless it is nil; see BeginSend.
func (m *Match) Watch(ctx context.Context, w *Watcher, role Role, onStall func()) {
	w.m, w.ctx, w.onStall = m, ctx, onStall
	w.role.Store(int32(role))
	m.count(role, 1)
	m.watching.mu.Lock()
	defer m.watching.mu.Unlock()
	if len(m.watching.all) == 0 {
		m.watching.followedFrom = time.Now()
		// The last announcement was to watchers that have left.
		m.watching.announced.Store(nil)
		m.hub.Feed.Follow(m.id, m)
	}
	w.index = len(m.watching.all)
	m.watching.all = append(m.watching.all, w)
	m.watching.size.Store(int32(len(m.watching.all)))
}

// Discount takes the watcher off the count, for one that became a player.
func (w *Watcher) Discount() { w.m.count(Role(w.role.Swap(int32(Player))), -1) }

// count adds n watchers of a role.
func (m *Match) count(role Role, n int32) {
	switch role {
	case Spectator:
		m.watching.local.Add(n)
		m.hub.watchers.Add(int64(n))
	case Preview:
		m.watching.previews.Add(n)
	case Player:
	}
}

// SkipAudience makes w continue after the last announcement of the audience that another
// watcher of the match was given.
func (w *Watcher) SkipAudience(of *Watcher) { w.audience = of.audience }

// Close ends the watch. It is called once.
func (w *Watcher) Close() {
	w.Discount()
	m := w.m
	m.watching.mu.Lock()
	defer m.watching.mu.Unlock()
	last := len(m.watching.all) - 1
	moved := m.watching.all[last]
	m.watching.all[w.index], moved.index = moved, w.index
	m.watching.all[last] = nil
	m.watching.all = m.watching.all[:last]
	m.watching.size.Store(int32(last))
	if last == 0 {
		m.watching.all = nil // There may have been many.
		m.hub.Feed.Leave(m.id)
	}
}

// followed reports whether the match hears of every entry of its log.
func (m *Match) followed() bool { return m.watching.size.Load() > 0 }

// FollowedSince reports whether the match has heard of every entry that any server
// appended to its log after a moment.
func (m *Match) FollowedSince(then time.Time) bool {
	m.watching.mu.Lock()
	defer m.watching.mu.Unlock()
	return len(m.watching.all) > 0 && m.watching.followedFrom.Before(then)
}

// Update is what is new for a watcher. One of the fields is set, or none.
type Update struct {
	// Event is the one after the watcher's version.
	Event *Event
	// Missed is the current state if that event has left memory: the watcher gets
	// the state instead, or the events from the log.
	Missed *replay.State
	// Audience is a new announcement.
	Audience *Audience
	// Err is why the watcher is shown no more, such as the error of its context.
	Err error
}

// Next returns what is new for a watcher that has seen version, and a channel that is
// closed as soon as there may be more. Events come before announcements.
func (w *Watcher) Next(version int32) (Update, <-chan struct{}) {
	m := w.m
	// The channel first, so that any later change closes it.
	changed := m.change()
	if event := m.ring.at(version + 1); event != nil {
		return Update{Event: event}, changed
	}
	if state := m.State(); state.Version > version {
		// It may have come since the first try.
		if event := m.ring.at(version + 1); event != nil {
			return Update{Event: event}, changed
		}
		return Update{Missed: state}, changed
	}
	if m.hub.stopping.Err() != nil {
		return Update{Err: ErrStopping}, changed
	}
	if err := m.failure.Load(); err != nil {
		return Update{Err: *err}, changed
	}
	if w.left.Load() {
		return Update{Err: context.Cause(w.ctx)}, changed
	}
	if a := m.watching.announced.Load(); a != nil && a != w.audience {
		w.audience = a
		return Update{Audience: a}, changed
	}
	return Update{}, changed
}

// While returns a context that ends when the game is no longer at version, or ctx
// ends. The returned function ends it, and waits for its goroutine.
func (m *Match) While(ctx context.Context, version int32) (context.Context, func()) {
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer cancel()
		for {
			changed := m.change()
			if m.State().Version != version {
				return
			}
			select {
			case <-changed:
			case <-ctx.Done():
				return
			}
		}
	}()
	return ctx, func() {
		cancel()
		<-done
	}
}

// watcherSet holds the watchers of a match, and counts them on all servers.
type watcherSet struct {
	mu  sync.Mutex
	all []*Watcher // on this server, of all roles; guarded by mu
	// followedFrom is when the first of all joined; guarded by mu.
	followedFrom time.Time

	size      atomic.Int32 // length of all, for reading without mu
	previews  atomic.Int32 // on this server
	local     atomic.Int32 // spectators on this server
	remote    atomic.Int32 // spectators on other servers, as last reported
	announced atomic.Pointer[Audience]

	reported  atomic.Int32 // local as last reported to other servers
	reporting atomic.Bool  // a report is in flight: one at a time, so that they arrive in order

	// For countAudiences only.
	reportedAt  time.Time
	announcedAt time.Time
}

// Watchers returns how many watch the game on all servers.
func (m *Match) Watchers() int { return int(m.watching.local.Load() + m.watching.remote.Load()) }

// Limited returns how many watch the game against its limit: the spectators on all
// servers, and the previews on this one.
func (m *Match) Limited() int { return m.Watchers() + int(m.watching.previews.Load()) }

// setRemoteWatchers takes the total that the store returned, −1 for none. A match that is
// followed gets newer totals from the feed.
func (m *Match) setRemoteWatchers(total int) {
	if total >= 0 && !m.followed() {
		m.Audience(total)
	}
}

// Audience implements store.Listener.
func (m *Match) Audience(total int) {
	// The total includes this server's watchers as last reported.
	m.watching.remote.Store(max(0, int32(total)-m.watching.reported.Load()))
}

// announceEvery is how often an unchanged audience is announced, so that no proxy
// takes a stream for idle; refreshEvery how often an unchanged count is reported, so
// that it does not expire.
const (
	announceEvery = 15 * time.Second
	refreshEvery  = store.AudienceTTL / 3
)

// countAudiences reports this server's counts to the other servers, and announces the
// totals to watchers, if they changed or enough time has passed.
func (h *Hub) countAudiences(now time.Time) {
	for _, m := range h.all() {
		select {
		case <-m.ready:
		default:
			continue
		}
		c := &m.watching
		if local := c.local.Load(); local != c.reported.Load() || local > 0 && now.Sub(c.reportedAt) >= refreshEvery {
			h.reportWatchers(m, local, now)
		}
		total, before := m.Watchers(), c.announced.Load()
		changed := before == nil && total > 0 || before != nil && before.Watchers != total
		// Also when the last watcher has left, for the lists.
		if changed || m.followed() && (before == nil || now.Sub(c.announcedAt) >= announceEvery) {
			c.announcedAt = now
			c.announced.Store(&Audience{Watchers: total})
			m.wake()
			h.Observer.Watched(m.State(), total)
		}
	}
}

// reportWatchers reports to the other servers how many watch a match on this one,
// without waiting. If it fails, countAudiences reports again.
func (h *Hub) reportWatchers(m *Match, local int32, now time.Time) {
	c := &m.watching
	if !c.reporting.CompareAndSwap(false, true) {
		return
	}
	before := c.reported.Swap(local)
	c.reportedAt = now
	if local != before {
		// Spread the next reports of games that were joined at the same time.
		c.reportedAt = now.Add(-rand.N(refreshEvery))
	}
	if !h.start(m, func(ctx context.Context) {
		defer c.reporting.Store(false)
		total, err := h.Log.Audience(ctx, m.id, h.ServerID, int(local))
		if err != nil {
			// The store may have the count: report also that they left.
			c.reported.Store(max(before, local))
			return
		}
		c.remote.Store(max(0, int32(total)-local))
	}) {
		c.reported.Store(before)
		c.reporting.Store(false)
	}
}
