package match

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gridstand/gridstand/game/replay"
)

// Watcher receives the events of a match at its own pace; the match never waits for it. It is
// not safe for concurrent use.
type Watcher struct {
	// Keep the fields that are used for every event together.
	m        *Match
	audience *Audience    // the last one that the watcher received, or that came before it
	left     atomic.Bool  // set once ctx is done
	role     atomic.Int32 // a Role

	ctx   context.Context
	index int // index in watcherSet.all; guarded by watcherSet.mu
}

// Watch registers w, which must be a zero Watcher, as a watcher. The caller must close it.
// The caller allocates w, so that w can be next to the caller's own data about the watcher.
// If the two are apart, a delivery takes 5% longer.
//
// The watcher is woken within two ticks after ctx is done, and Next then returns the context's
// error if there is nothing else to return. All roles get the same updates.
func (m *Match) Watch(ctx context.Context, w *Watcher, role Role) {
	w.m, w.ctx = m, ctx
	w.role.Store(int32(role))
	m.watching.roles[role].Add(1)
	m.watching.mu.Lock()
	defer m.watching.mu.Unlock()
	if len(m.watching.all) == 0 {
		// Forget the last announcement, which was for watchers that have left.
		m.watching.announced.Store(nil)
		m.watching.shown.take()
		m.hub.Feed.Follow(m.id, m)
	}
	w.audience = m.watching.announced.Load()
	w.index = len(m.watching.all)
	m.watching.all = append(m.watching.all, w)
	m.watching.size.Store(int32(len(m.watching.all)))
}

// reap wakes all watchers if the context of any of them has ended. One pass over all watchers per tick
// is cheaper than a second channel for every watcher and event.
func (m *Match) reap() {
	ended := false
	m.watching.mu.Lock()
	for _, w := range m.watching.all {
		if w.ctx.Err() != nil && !w.left.Swap(true) {
			w.SetRole(Uncounted)
			ended = true
		}
	}
	m.watching.mu.Unlock()
	if ended {
		m.wake()
	}
}

// Close unregisters the watcher. It must be called exactly once.
func (w *Watcher) Close() {
	w.SetRole(Uncounted)
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

// watcherSet holds the watchers of a match on this server, and the number of its spectators
// on all servers.
type watcherSet struct {
	mu  sync.Mutex
	all []*Watcher // the watchers on this server, of all roles; guarded by mu

	size      atomic.Int32        // length of all, for reading without mu
	roles     [roles]atomic.Int32 // numbers of watchers on this server, by Role
	announced atomic.Pointer[Audience]
	remote    atomic.Int32 // number of spectators on other servers, as last reported

	// reacted counts the reactions on this server that were not reported yet, and shown those on all
	// servers that were not announced yet.
	reacted, shown reactions

	reported  atomic.Int32 // Match.counted as last reported to other servers
	reporting atomic.Bool  // set while a report is in flight; only one is sent at a time, so that reports arrive in order

	// Used by countAudience only.
	reportedAt  time.Time
	announcedAt time.Time
}
