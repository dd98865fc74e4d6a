package match

import (
	"context"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gridstand/gridstand/game/replay"
	"github.com/gridstand/gridstand/server/internal/gamelog"
)

// Watcher is one who is shown a match. It holds nothing of the match but its
// place, and takes what it has not seen at its own pace; the match never waits
// for it. It is for one goroutine.
type Watcher struct {
	// What each event needs comes first.
	m        *Match
	audience *Audience
	sending  atomic.Int64 // the tick of BeginSend, 0 outside of a send, or stalled
	left     atomic.Bool  // ctx has ended
	counted  atomic.Bool

	ctx     context.Context
	index   int // in crowd.all; guarded by crowd.mu
	onStall func()
}

// Audience is a count of watchers as it was announced: a new one is made at
// each announcement, also when the number stays.
type Audience struct {
	Watchers int

	encodedOnce
}

// Watch makes w, which is new, a watcher, who must be closed. The caller has it
// beside what else it keeps of a watcher: no cache holds either from one event to
// the next, and to fetch both took a twentieth of what it costs to show an event.
//
// Within a second or two of the end of ctx the watcher is woken, and a Look that
// finds nothing else says so. One who is not counted, such as a player of the game,
// is shown the same. giveUp is called, if it is not nil and from another goroutine,
// when the watcher takes longer than Config.Stall over something.
func (m *Match) Watch(ctx context.Context, w *Watcher, counted bool, onStall func()) {
	w.m, w.ctx, w.onStall = m, ctx, onStall
	w.counted.Store(counted)
	if counted {
		m.watching.local.Add(1)
		m.hub.watchers.Add(1)
	}
	m.watching.mu.Lock()
	defer m.watching.mu.Unlock()
	if len(m.watching.all) == 0 {
		m.watching.followedFrom = time.Now()
		// What was announced last was of those who left long ago.
		m.watching.announced.Store(nil)
		m.hub.Follower.Follow(m.id, m)
	}
	w.index = len(m.watching.all)
	m.watching.all = append(m.watching.all, w)
	m.watching.size.Store(int32(len(m.watching.all)))
}

// Discount takes the watcher off the count: it has become a player.
func (w *Watcher) Discount() {
	if w.counted.CompareAndSwap(true, false) {
		w.m.watching.local.Add(-1)
		w.m.hub.watchers.Add(-1)
	}
}

// Close ends the watching. It is called once.
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
		m.hub.Follower.Leave(m.id)
	}
}

// followed reports whether the match hears of every entry of its log.
func (m *Match) followed() bool { return m.watching.size.Load() > 0 }

// FollowedSince reports whether the match has heard of every entry of its log
// since before a moment, whichever server appended it.
func (m *Match) FollowedSince(then time.Time) bool {
	m.watching.mu.Lock()
	defer m.watching.mu.Unlock()
	return len(m.watching.all) > 0 && m.watching.followedFrom.Before(then)
}

// Look is what a watcher finds. One of the fields is set, or none: then there
// is nothing new.
type Look struct {
	// Event that follows the version asked for.
	Event *Event
	// Missed is the present state when the event that follows is not in memory
	// any more: this state covers it, or the log has it.
	Missed *replay.State
	// Audience to announce.
	Audience *Audience
	// Err is why the match cannot be shown further; that of the watcher's
	// context once somebody has noticed that it ended.
	Err error
}

// Look returns what there is for a watcher who has seen version, and a channel
// that is closed as soon as there may be more. Announcements of the audience
// come when no event is waiting.
func (w *Watcher) Look(version int32) (Look, <-chan struct{}) {
	m := w.m
	// The channel first: what comes after it was read closes it.
	changed := m.change()
	if event := m.ring.at(version + 1); event != nil {
		return Look{Event: event}, changed
	}
	if state := m.State(); state.Version > version {
		// It may have come between the two looks.
		if event := m.ring.at(version + 1); event != nil {
			return Look{Event: event}, changed
		}
		return Look{Missed: state}, changed
	}
	if m.hub.stopping.Err() != nil {
		return Look{Err: ErrStopping}, changed
	}
	if err := m.failure.Load(); err != nil {
		return Look{Err: *err}, changed
	}
	if w.left.Load() {
		return Look{Err: context.Cause(w.ctx)}, changed
	}
	if a := m.watching.announced.Load(); a != nil && a != w.audience {
		w.audience = a
		return Look{Audience: a}, changed
	}
	return Look{}, changed
}

// While returns a context that ends when the game moves on from version, or
// ctx ends. The function returned ends it, and waits for what watches the game.
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

// watcherSet is the watchers of a match, and their count.
type watcherSet struct {
	mu  sync.Mutex
	all []*Watcher // here, counted or not, in no order; guarded by mu
	// followedFrom is when the first of all came; guarded by mu.
	followedFrom time.Time

	size      atomic.Int32 // of all, to be read without mu
	local     atomic.Int32 // those that are counted
	remote    atomic.Int32 // counted on other servers, when last heard of
	announced atomic.Pointer[Audience]

	reported  atomic.Int32 // what this server last told the others
	reporting atomic.Bool  // it is telling them: one after the other, or the first might be heard last

	// Of the goroutine that counts.
	reportedAt  time.Time
	announcedAt time.Time // of the last announcement
}

// Watchers is how many watch the game on all servers.
func (m *Match) Watchers() int { return int(m.watching.local.Load() + m.watching.remote.Load()) }

// heard takes from the log how many watch on all servers; −1 for nothing. A
// match that is followed hears of it sooner.
func (m *Match) setRemoteWatchers(total int) {
	if total >= 0 && !m.followed() {
		m.Audience(total)
	}
}

// Audience implements gamelog.Listener.
func (m *Match) Audience(total int) {
	// The total counts this server's watchers as it last told them.
	m.watching.remote.Store(max(0, int32(total)-m.watching.reported.Load()))
}

// announceEvery is how often the audience is announced although it is the
// same, so that no proxy takes a stream for idle; refreshEvery how often the
// others are told although nothing changed.
const (
	announceEvery = 15 * time.Second
	refreshEvery  = gamelog.AudienceTTL / 3
)

// countAudiences tells the other servers how many watch here, and the watchers
// how many watch everywhere, where that changed or enough time has passed.
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
		// Whoever lists games is told also that the last watcher has left.
		if changed || m.followed() && (before == nil || now.Sub(c.announcedAt) >= announceEvery) {
			c.announcedAt = now
			c.announced.Store(&Audience{Watchers: total})
			m.wake()
			h.Observer.Watched(m.State(), total)
		}
	}
}

// tell tells the other servers how many watch a match here, without waiting for
// it. A failure is made good by another round.
func (h *Hub) reportWatchers(m *Match, local int32, now time.Time) {
	c := &m.watching
	if !c.reporting.CompareAndSwap(false, true) {
		return
	}
	before := c.reported.Swap(local)
	c.reportedAt = now
	if local != before {
		// As if some time ago, so that not all games that were joined in one
		// moment are told anew in one.
		c.reportedAt = now.Add(-rand.N(refreshEvery))
	}
	if !h.start(m, func(ctx context.Context) {
		defer c.reporting.Store(false)
		total, err := h.log.Audience(ctx, m.id, h.ServerID, int(local))
		if err != nil {
			// Who may have heard of watchers has to hear that they left.
			c.reported.Store(max(before, local))
			return
		}
		c.remote.Store(max(0, int32(total)-local))
	}) {
		c.reported.Store(before)
		c.reporting.Store(false)
	}
}
