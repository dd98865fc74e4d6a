// Package match serves games. It keeps games with players or watchers in memory, appends
// moves to their logs, follows the entries that other servers append, and shows every event
// to any number of watchers.
//
// The log is authoritative. A match is derived from its game's log, extended from it,
// reported as damaged if the two differ, and evicted from memory when it is no longer used.
package match

import (
	"context"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gridstand/gridstand/game/replay"
	"github.com/gridstand/gridstand/server/internal/gamelog"
	"github.com/gridstand/gridstand/server/internal/store"
)

// Match is one game being served. It is safe for concurrent use.
//
// The tip only moves forward, entry by entry, along a history whose digests were checked.
// writing is held during an append and for as long as its outcome is unknown, so that no call
// is decided based on a state that may be out of date. mu is held while the tip moves, but
// never across I/O. Reading the tip takes no lock, because 20,000 watchers that wake at the
// same time would contend for it.
type Match struct {
	id    string
	hub   *Hub
	phase int64 // random offset that spreads out the periodic checks of all matches

	writing chan struct{}               // a semaphore of one
	tip     atomic.Pointer[gamelog.Tip] // never nil

	mu       sync.Mutex
	next     *confirmation // the next check, shared by calls made after the running one began
	checking chan struct{} // a semaphore of one for checks

	// confirmedAt is the tick at which the store last confirmed that the log ends with the
	// tip, by a check or an append.
	confirmedAt atomic.Int64

	ring     ring
	changed  atomic.Pointer[chan struct{}] // closed and cleared at every change; nil if there are no waiters
	failure  atomic.Pointer[error]         // why watchers currently get no events, or nil
	watching watcherSet

	ready   chan struct{} // closed when loaded or failed
	loadErr error         // set before ready is closed

	// Guarded by Hub.mu.
	refs     int
	idleFrom time.Time
}

func newMatch(h *Hub, gameID string) *Match {
	m := &Match{
		id: gameID, hub: h, phase: rand.Int64N(1 << 16),
		writing: make(chan struct{}, 1), checking: make(chan struct{}, 1), ready: make(chan struct{}),
	}
	m.tip.Store(&gamelog.Tip{})
	return m
}

// State returns the latest state that this server knows. To check it against the log, use
// Confirm.
func (m *Match) State() *replay.State { return m.tip.Load().State }

// load reads the whole log and closes ready. A match that cannot be loaded is removed from
// the hub.
func (m *Match) load(ctx context.Context) {
	defer close(m.ready)
	now := m.hub.ticks.Load()
	tip, err := m.hub.Log.Load(ctx, m.id, store.ID{}, func(e *replay.Event) { m.ring.put(e) })
	if err != nil {
		m.loadErr = err
		if m.hub.stopping.Err() != nil {
			m.loadErr = ErrStopping
		}
		m.hub.forget(m)
		return
	}
	m.tip.Store(&tip)
	m.confirmedAt.Store(now)
}

// advance moves the tip by one entry, unless the match already has that entry, and returns
// the event that all watchers share. It returns nil if the event was evicted or does not
// follow the tip.
func (m *Match) advance(prev store.ID, tip gamelog.Tip, event *replay.Event) *Event {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.tip.Load().ID != prev {
		return m.ring.at(tip.ID.Version)
	}
	shown := m.ring.put(event)
	m.tip.Store(&tip)
	m.wake()
	if n := m.watching.size.Load() - m.watching.roles[Relay].Load(); n > 0 {
		m.hub.Delivered(int(n))
	}
	return shown
}

// wake wakes all watchers.
func (m *Match) wake() {
	if c := m.changed.Swap(nil); c != nil {
		close(*c)
	}
}

// change returns a channel that the next wake closes.
func (m *Match) change() <-chan struct{} {
	for {
		if c := m.changed.Load(); c != nil {
			return *c
		}
		c := make(chan struct{})
		if m.changed.CompareAndSwap(nil, &c) {
			return c
		}
	}
}

// fail records err as the reason why watchers get no more events, and wakes the watchers.
func (m *Match) fail(err error) {
	m.failure.Store(&err)
	m.wake()
}

// Listening implements store.Listener. It may be called by Watch and must not lock m.watching.mu.
func (m *Match) Listening() { m.refresh() }

// Published implements store.Listener.
func (m *Match) Published(r store.Record) {
	tip := m.tip.Load()
	switch {
	case r.ID.Version <= tip.ID.Version:
		return
	case r.ID.Version > tip.ID.Version+1:
		m.refresh()
		return
	}
	next, event, err := tip.Apply(m.id, r, m.recent)
	if err != nil {
		// The feed is not authoritative, so check the log.
		m.refresh()
		return
	}
	m.advance(tip.ID, next, event)
}
