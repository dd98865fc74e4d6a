// Package match serves games: it holds those that somebody plays or watches,
// takes their moves to the log, follows what other servers append, and shows
// every event to any number of watchers.
//
// Nothing here is authoritative. What a match holds was derived from the
// game's log and is derived again whenever the two differ; a match that nobody
// needs is dropped.
package match

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gridstand/gridstand/game/replay"
	"github.com/gridstand/gridstand/server/internal/gamelog"
)

// Match is one game being served. It is safe for concurrent use.
//
// The tip moves only forward, one entry at a time, and only along a history
// whose digests were checked. writing is held by whoever appends; it stays held
// while the outcome of an append is not known, so that nothing is judged on a
// state that may be past. mu is held while the tip moves, and never across I/O.
// Whoever only looks at the tip needs no lock: twenty thousand watchers who wake
// at once would queue up behind it.
type Match struct {
	id    string
	hub   *Hub
	phase int64 // spreads what is done every few ticks

	writing chan struct{} // a semaphore of one
	// pending is what is being appended, nil for nothing. Its entry is published
	// as that of any server is, and need not be played once more.
	pending atomic.Pointer[gamelog.Draft]

	tip atomic.Pointer[gamelog.Tip] // never nil

	mu      sync.Mutex
	next    *confirmation // shared by calls that came after the running one began
	running bool          // a goroutine works through next

	// bornOut is the tick in which the log was last asked, or written to, with
	// the answer that it ends with the tip.
	bornOut atomic.Int64

	ring    ring
	changed atomic.Pointer[chan struct{}] // closed and dropped at every change, nil while nobody waits
	failure atomic.Pointer[error]         // why watchers cannot be shown more, for now
	crowd   crowd

	ready   chan struct{} // closed when loaded or failed
	loadErr error         // set before ready is closed

	// Guarded by Hub.mu.
	users    int
	idleFrom time.Time
}

func newMatch(h *Hub, gameID string) *Match {
	m := &Match{id: gameID, hub: h, phase: rand.Int64N(1 << 16), writing: make(chan struct{}, 1), ready: make(chan struct{})}
	m.tip.Store(&gamelog.Tip{})
	return m
}

// due reports whether something that is done every few ticks is done in the
// given one.
func (m *Match) due(n, every int64) bool { return (n+m.phase)%every == 0 }

// doubtful reports whether the log did not bear out the tip for followTicks, or
// last said something else.
func (m *Match) doubtful(now int64) bool {
	return now-m.bornOut.Load() >= followTicks || m.failure.Load() != nil
}

// State is the game as far as this server knows it; Confirm asks the log.
func (m *Match) State() *replay.State { return m.currentTip().State }

func (m *Match) currentTip() gamelog.Tip { return *m.tip.Load() }

// load reads the whole log.
func (m *Match) load(ctx context.Context) error {
	history, err := m.hub.log.Load(ctx, m.id, gamelog.ID{}, ringSize)
	if err != nil {
		return err
	}
	for _, e := range history.Events {
		m.ring.put(newEvent(e))
	}
	m.tip.Store(&history.Tip)
	return nil
}

// install makes the entry that leads to tip known to the match, unless it is
// already, and returns the event that everybody is shown; nil for one that left
// memory already, or does not follow.
func (m *Match) install(prev gamelog.ID, tip gamelog.Tip, event *replay.Event) *Event {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.currentTip().ID != prev {
		return m.ring.at(tip.ID.Version)
	}
	made := &struct {
		event Event
		tip   gamelog.Tip
	}{Event{Event: event, Seen: time.Now()}, tip}
	m.ring.put(&made.event)
	m.tip.Store(&made.tip)
	m.wake()
	if n := m.crowd.size.Load(); n > 0 {
		m.hub.Observer.Delivered(int(n))
	}
	return &made.event
}

// wake tells every watcher to look again.
func (m *Match) wake() {
	if c := m.changed.Swap(nil); c != nil {
		close(*c)
	}
}

// change is closed by the next wake.
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

// fail tells every watcher why it cannot be shown more.
func (m *Match) fail(err error) {
	m.failure.Store(&err)
	m.wake()
}

// catchUp reads what was appended since the tip. It returns
// *gamelog.DamagedError when the log does not hold the tip.
func (m *Match) catchUp(ctx context.Context) error {
	tip := m.currentTip()
	found := false
	err := m.hub.log.Read(ctx, m.id, tip.ID.Version, func(r gamelog.Record) error {
		if !found {
			if r.ID != tip.ID {
				return &gamelog.DamagedError{GameID: m.id, Version: tip.ID.Version, Detail: fmt.Sprintf("it has %s where %s was", r.ID, tip.ID)}
			}
			found = true
			return nil
		}
		next, event, err := tip.Apply(m.id, r, m.past(ctx))
		if err != nil {
			return err
		}
		m.install(tip.ID, next, event)
		tip = next
		return nil
	})
	if err == nil && !found {
		err = &gamelog.DamagedError{GameID: m.id, Version: tip.ID.Version, Detail: fmt.Sprintf("it lacks %s", tip.ID)}
	}
	return err
}

// past finds earlier states in memory or in the log.
func (m *Match) past(ctx context.Context) gamelog.Past {
	return func(version int32) (*replay.State, error) {
		if state, err := m.recent(version); err == nil {
			return state, nil
		}
		event, err := m.hub.log.Find(ctx, m.id, func(v int32, _ replay.Entry) bool { return v == version })
		if err == nil && event == nil {
			err = fmt.Errorf("no version %d", version)
		}
		if err != nil {
			return nil, err
		}
		return event.State, nil
	}
}

// recent finds earlier states in memory.
func (m *Match) recent(version int32) (*replay.State, error) {
	if e := m.ring.at(version); e != nil {
		return e.State, nil
	}
	return nil, fmt.Errorf("version %d is not in memory", version)
}

// Listening implements gamelog.Listener.
func (m *Match) Listening() { m.refresh() }

// Published implements gamelog.Listener.
func (m *Match) Published(r gamelog.Record) {
	tip := m.currentTip()
	switch {
	case r.ID.Version <= tip.ID.Version:
		return
	case r.ID.Version > tip.ID.Version+1:
		m.refresh()
		return
	}
	if d := m.pending.Load(); d != nil {
		if own, ok := d.Landed(tip, r); ok {
			m.install(tip.ID, own.Tip, own.Event)
			return
		}
	}
	next, event, err := tip.Apply(m.id, r, m.recent)
	if err != nil {
		// What is published is not the log: look there before believing it.
		m.refresh()
		return
	}
	m.install(tip.ID, next, event)
}

// refresh confirms the tip without anybody waiting for it. Until that is done
// the tip is in doubt: Redis may be away.
func (m *Match) refresh() {
	m.bornOut.Store(-followTicks)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.request()
}

// confirmation is one look at the log, shared by all who asked before it began.
type confirmation struct {
	done chan struct{}
	tip  gamelog.Tip
	err  error
}

// request returns a confirmation that begins after the call. m.mu is held.
func (m *Match) request() *confirmation {
	if m.next == nil {
		m.next = &confirmation{done: make(chan struct{})}
	}
	c := m.next
	if !m.running && m.hub.start(m, m.confirmAll) {
		m.running = true
	}
	return c
}

// confirmAll works until nobody waits for a confirmation.
func (m *Match) confirmAll(ctx context.Context) {
	for {
		m.mu.Lock()
		c := m.next
		m.next = nil
		m.running = c != nil
		m.mu.Unlock()
		if c == nil {
			return
		}
		c.tip, c.err = m.look(ctx, m.hub.log.TailSoon)
		if c.err != nil && ctx.Err() != nil {
			c.err = ErrStopping
		}
		close(c.done)
	}
}

// glance is look where the log bore out the tip not long ago, and somebody
// watches, so that a match hears without asking how many do: then it is enough
// that the log neither grew nor shrank.
func (m *Match) glance(ctx context.Context) (gamelog.Tip, error) {
	if tip := m.currentTip(); !m.doubtful(m.hub.ticks.Load()) && m.followed() {
		ends, err := m.hub.log.EndsWith(ctx, m.id, tip.ID)
		if err != nil {
			return gamelog.Tip{}, err
		}
		if ends {
			return tip, nil
		}
	}
	return m.look(ctx, m.hub.log.Tail)
}

// look is check, and tells watchers what came of it.
func (m *Match) look(ctx context.Context, tailOf tailOf) (gamelog.Tip, error) {
	tip, err := m.check(ctx, tailOf)
	switch {
	case err == nil:
		m.failure.Store(nil)
	case ctx.Err() != nil:
	case isDamaged(err), errors.Is(err, replay.ErrUnknown):
		m.fail(err)
	}
	return tip, err
}

// Confirm returns the game as its log has it at a moment within the call.
func (m *Match) Confirm(ctx context.Context) (*replay.State, error) {
	tip, err := m.confirm(ctx)
	return tip.State, err
}

// confirm looks for itself where nobody else does: to wake another goroutine
// and be woken by it takes as long as Redis. Who comes meanwhile shares the
// next look.
func (m *Match) confirm(ctx context.Context) (gamelog.Tip, error) {
	m.mu.Lock()
	if !m.running {
		m.running = true
		m.mu.Unlock()
		defer m.handOver()
		if m.hub.stopping.Err() != nil {
			return gamelog.Tip{}, ErrStopping
		}
		tip, err := m.glance(ctx)
		switch {
		case err == nil:
		case m.hub.stopping.Err() != nil:
			err = ErrStopping
		case ctx.Err() != nil:
			err = ctx.Err()
		}
		return tip, err
	}
	c := m.request()
	m.mu.Unlock()
	select {
	case <-c.done:
		return c.tip, c.err
	case <-ctx.Done():
		return gamelog.Tip{}, ctx.Err()
	case <-m.hub.stopped:
		return gamelog.Tip{}, ErrStopping
	}
}

// handOver ends looking for oneself.
func (m *Match) handOver() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.running = false
	if m.next != nil {
		m.request()
	}
}

// tailOf reads where a log ends.
type tailOf func(ctx context.Context, gameID string) (gamelog.Tail, error)

// check compares the tip with the log, reads what is missing, and mends a meta
// that fell behind.
func (m *Match) check(ctx context.Context, tailOf tailOf) (gamelog.Tip, error) {
	// The tip first: a log that is read later can only be longer.
	tip, now := m.currentTip(), m.hub.ticks.Load()
	tail, err := tailOf(ctx, m.id)
	if err != nil && !isDamaged(err) {
		return gamelog.Tip{}, err
	}
	if err == nil && tail.Sound() {
		m.heard(tail.Watchers)
		if tail.Last == tip.ID {
			m.bornOut.Store(now)
			return tip, nil
		}
		if tail.Last.Version > tip.ID.Version {
			err := m.catchUp(ctx)
			if err == nil {
				return m.currentTip(), nil
			}
			if !isDamaged(err) {
				return gamelog.Tip{}, err
			}
		}
	}
	// It does not fit: read all of it once more before anything is said.
	history, err := m.hub.log.Load(ctx, m.id, tip.ID, ringSize)
	if err != nil {
		// A finished game expires, log and meta together.
		if errors.Is(err, gamelog.ErrNotFound) && tip.State.Status != replay.Finished {
			err = &gamelog.DamagedError{GameID: m.id, Detail: fmt.Sprintf("it is gone, and had %s", tip.ID)}
		}
		return gamelog.Tip{}, err
	}
	if err := m.catchUp(ctx); err != nil {
		return gamelog.Tip{}, err
	}
	return history.Tip, nil
}

func isDamaged(err error) bool {
	var damaged *gamelog.DamagedError
	return errors.As(err, &damaged)
}
