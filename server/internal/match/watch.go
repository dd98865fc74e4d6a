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

// Watcher receives the events of a match at its own pace; the match never waits for it. It is
// not safe for concurrent use.
type Watcher struct {
	// Keep the fields that are used for every event together.
	m        *Match
	audience *Audience
	sending  atomic.Int64 // tick at which the current send began; 0 if none is in progress, stalled if it takes too long
	left     atomic.Bool  // set once ctx is done
	role     atomic.Int32 // a Role

	ctx     context.Context
	index   int // index in watcherSet.all; guarded by watcherSet.mu
	onStall func()
}

// Role determines how a watcher is counted.
type Role int32

// The roles of watchers.
const (
	// Player is the role of the game's players, who are not counted.
	Player Role = iota
	// Spectator is the role of watchers who are counted in the audience on all servers.
	Spectator
	// Preview is the role of watchers that are counted only on their own server, and only
	// toward the game's limit.
	Preview
)

// Audience announces the number of spectators of a game on all servers. Every announcement is
// a new value, even if the number is unchanged.
type Audience struct {
	Watchers int

	EncodedOnce
}

// Watch registers w, which must be a zero Watcher, as a watcher. The caller must close it.
// The caller allocates w, so that w can be next to the caller's own data about the watcher.
// If the two are apart, a delivery takes 5% longer.
//
// The watcher is woken within two ticks after ctx is done, and Next then returns the context's
// error if there is nothing else to return. All roles get the same updates. If the watcher stalls,
// onStall is called from another goroutine, unless it is nil; see BeginSend.
func (m *Match) Watch(ctx context.Context, w *Watcher, role Role, onStall func()) {
	w.m, w.ctx, w.onStall = m, ctx, onStall
	w.role.Store(int32(role))
	m.count(role, 1)
	m.watching.mu.Lock()
	defer m.watching.mu.Unlock()
	if len(m.watching.all) == 0 {
		m.watching.followedFrom = time.Now()
		// Forget the last announcement, which was for watchers that have left.
		m.watching.announced.Store(nil)
		m.hub.Feed.Follow(m.id, m)
	}
	w.index = len(m.watching.all)
	m.watching.all = append(m.watching.all, w)
	m.watching.size.Store(int32(len(m.watching.all)))
}

// Discount stops counting the watcher, for example because it became a player.
func (w *Watcher) Discount() { w.m.count(Role(w.role.Swap(int32(Player))), -1) }

// count adds n to the number of watchers with the given role.
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

// SkipAudience makes w skip the audience announcements that another watcher of the match has
// already received.
func (w *Watcher) SkipAudience(of *Watcher) { w.audience = of.audience }

// Close unregisters the watcher. It must be called exactly once.
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
		m.watching.all = nil // Release the memory, because there may have been many watchers.
		m.hub.Feed.Leave(m.id)
	}
}

// followed reports whether the match is subscribed to the feed of its log.
func (m *Match) followed() bool { return m.watching.size.Load() > 0 }

// FollowedSince reports whether the match has been subscribed to the feed of its log since
// before the given time.
func (m *Match) FollowedSince(then time.Time) bool {
	m.watching.mu.Lock()
	defer m.watching.mu.Unlock()
	return len(m.watching.all) > 0 && m.watching.followedFrom.Before(then)
}

// Update is what Next returns to a watcher. At most one of the fields is set.
type Update struct {
	// Event is the event after the watcher's version.
	Event *Event
	// Missed is the current state of the game if the event after the watcher's version was
	// evicted from memory. The caller can send this state to the client, or read the
	// missing events from the log.
	Missed *replay.State
	// Audience is an announcement that the watcher has not received yet.
	Audience *Audience
	// Err is the reason why the watcher gets no more updates, such as its context's error.
	Err error
}

// Next returns the next update for a watcher that has seen version, and a channel that is
// closed as soon as there may be another. Events take precedence over announcements.
func (w *Watcher) Next(version int32) (Update, <-chan struct{}) {
	m := w.m
	// Get the channel first, so that any later change closes it.
	changed := m.change()
	if event := m.ring.at(version + 1); event != nil {
		return Update{Event: event}, changed
	}
	if state := m.State(); state.Version > version {
		// Try again, because the event may have arrived since the first try.
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

// While returns a context that is canceled when the game is no longer at the given version, or when
// ctx is done. The returned function cancels the context and waits for its goroutine.
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

// watcherSet holds the watchers of a match on this server, and the number of its spectators
// on all servers.
type watcherSet struct {
	mu  sync.Mutex
	all []*Watcher // the watchers on this server, of all roles; guarded by mu
	// followedFrom is the last time that all went from empty to non-empty; guarded by mu.
	followedFrom time.Time

	size      atomic.Int32 // length of all, for reading without mu
	previews  atomic.Int32 // on this server
	local     atomic.Int32 // spectators on this server
	announced atomic.Pointer[Audience]
	// remote is the number of spectators on other servers, as last reported, or nil before the first
	// report. Each report stores a new pointer.
	remote atomic.Pointer[int32]

	reported  atomic.Int32 // local as last reported to other servers
	reporting atomic.Bool  // set while a report is in flight; only one is sent at a time, so that reports arrive in order

	// Used by countAudiences only.
	reportedAt  time.Time
	announcedAt time.Time
}

// Watchers returns the number of spectators on all servers.
func (m *Match) Watchers() int {
	total := m.watching.local.Load()
	if remote := m.watching.remote.Load(); remote != nil {
		total += *remote
	}
	return int(total)
}

// Limited returns the number of watchers that count toward the game's limit: the spectators
// on all servers and the previews on this one.
func (m *Match) Limited() int { return m.Watchers() + int(m.watching.previews.Load()) }

// setRemoteWatchers updates the audience to the total that the store returned, unless total
// is −1. A followed match ignores total, because it gets newer totals from the feed.
func (m *Match) setRemoteWatchers(total int) {
	if total >= 0 && !m.followed() {
		m.Audience(total)
	}
}

// Audience implements store.Listener.
func (m *Match) Audience(total int) {
	// The total includes this server's watchers as last reported.
	remote := max(0, int32(total)-m.watching.reported.Load())
	m.watching.remote.Store(&remote)
}

// An unchanged audience is announced every announceEvery, so that no proxy considers a stream
// idle. An unchanged count is reported every refreshEvery, so that it does not expire.
const (
	announceEvery = 15 * time.Second
	refreshEvery  = store.AudienceTTL / 3
)

// countAudiences reports this server's counts of the given matches to the other servers and
// announces the totals to watchers if they have changed or enough time has passed.
func (h *Hub) countAudiences(matches []*Match, now time.Time) {
	for _, m := range matches {
		if !m.loaded() {
			continue
		}
		c := &m.watching
		if local := c.local.Load(); local != c.reported.Load() || local > 0 && now.Sub(c.reportedAt) >= refreshEvery {
			h.reportWatchers(m, local, now)
		}
		total, before := m.Watchers(), c.announced.Load()
		changed := before == nil && total > 0 || before != nil && before.Watchers != total
		// Announce a change even after the last watcher has left, because lists show the
		// total.
		if changed || m.followed() && (before == nil || now.Sub(c.announcedAt) >= announceEvery) {
			c.announcedAt = now
			c.announced.Store(&Audience{Watchers: total})
			m.wake()
			h.Observer.Watched(m.State(), total)
		}
	}
}

// reportWatchers reports the number of a match's spectators on this server to the other
// servers, without waiting for the outcome. If the report fails, countAudiences retries it.
func (h *Hub) reportWatchers(m *Match, local int32, now time.Time) {
	c := &m.watching
	if !c.reporting.CompareAndSwap(false, true) {
		return
	}
	before := c.reported.Swap(local)
	c.reportedAt = now
	if local != before {
		// Spread out the next reports of games that were joined at the same time.
		c.reportedAt = now.Add(-rand.N(refreshEvery))
	}
	known := c.remote.Load()
	if !h.start(m, func(ctx context.Context) {
		defer c.reporting.Store(false)
		total, err := h.Log.Audience(ctx, m.id, h.ServerID, int(local))
		if err != nil {
			// The store may have saved the count. Assume the larger one, so that a later count
			// of zero is also reported.
			c.reported.Store(max(before, local))
			return
		}
		// If the feed has delivered a total in the meantime, that one may be newer than total. The
		// feed also delivers total.
		remote := max(0, int32(total)-local)
		c.remote.CompareAndSwap(known, &remote)
	}) {
		c.reported.Store(before)
		c.reporting.Store(false)
	}
}
