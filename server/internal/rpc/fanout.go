package rpc

import (
	"context"
	"sync"
	"time"

	"github.com/gridstand/gridstand/game/replay"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
	"github.com/gridstand/gridstand/server/internal/match"
)

// TrySender is a stream that takes messages without waiting for the client.
type TrySender interface {
	Encoder
	// TrySend sends what the client takes at once of a message that Encode made, and
	// reports whether that is all of it. If not, SendMsg sends the rest first.
	TrySend(m any) bool
}

// fanout sends what is new in a game to many streams from one goroutine. A goroutine for
// each would take half of the time of an event, and more than half of the memory of a
// stream: its stack, and the caches that it fills.
//
// A stream takes part in it while it has all updates and its client reads them at once.
// Whenever it needs anything else, it leaves and continues in a goroutine of its own: if
// the client is slow, at the end of the game, or at an error.
type fanout struct {
	service *Service
	match   *match.Match
	watcher match.Watcher // of the game for all members, not counted
	emptied chan struct{} // gets a value when the last member is taken out

	mu      sync.Mutex
	members []member
	version int32 // the last one sent
	started bool
	ended   bool // it takes no more members

	reserved int // members, and views that are about to be; guarded by fanouts.mu
}

type member struct {
	stream  TrySender
	version int32 // of the view when it joined
	view    *View
}

// fanoutSize is how many streams share a fanout. With more, streams would wait for others
// while processors are idle.
const fanoutSize = 1024

// add reports whether a view became a member. If not, it reports whether another fanout
// may take it: it may not if there are new updates for it.
func (f *fanout) add(v *View) (joined, retry bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.ended {
		return false, true
	}
	if update, _ := v.watcher.Next(v.version); update != (match.Update{}) {
		return false, false
	}
	v.sharing.in.Store(f)
	if v.stream.Context().Err() != nil { // Interrupt looked before.
		v.sharing.in.Store(nil)
		return false, false
	}
	v.sharing.index = len(f.members)
	f.members = append(f.members, member{v.stream.(TrySender), v.version, v})
	if !f.started {
		f.started = true
		f.start(v)
	}
	return true, false
}

// start begins to send what comes after the first member's version.
func (f *fanout) start(first *View) {
	f.version = first.version
	f.match.Retain()
	f.match.Watch(context.Background(), &f.watcher, match.Player, nil)
	f.watcher.SkipAudience(&first.watcher)
	f.service.fanouts.group.Add(1)
	go f.run()
}

// remove takes a member out, which continues alone. It is called under mu.
func (f *fanout) remove(i int) {
	v := f.members[i].view
	v.version = max(f.version, f.members[i].version)
	v.watcher.SkipAudience(&f.watcher)
	last := len(f.members) - 1
	f.members[i] = f.members[last]
	f.members[i].view.sharing.index = i
	f.members[last] = member{}
	f.members = f.members[:last]
	v.sharing.in.Store(nil)
	f.service.fanouts.release(f)
	go v.followAlone()
}

// dissolve takes all members out.
func (f *fanout) dissolve() {
	for i := len(f.members) - 1; i >= 0; i-- {
		f.remove(i)
	}
}

// run sends updates until no member is left.
func (f *fanout) run() {
	defer f.service.fanouts.group.Done()
	defer f.match.Release()
	defer f.watcher.Close()
	for {
		changed := f.deliver()
		if changed == nil {
			return
		}
		select {
		case <-changed:
		case <-f.emptied:
		}
	}
}

// deliver sends all that is new. It returns a channel that is closed when there may be
// more, nil if no member is left.
func (f *fanout) deliver() (changed <-chan struct{}) {
	f.mu.Lock()
	defer f.mu.Unlock()
	defer f.recover()
	for len(f.members) > 0 {
		update, changed := f.watcher.Next(f.version)
		one := f.members[0].view
		switch e, a := update.Event, update.Audience; {
		case e != nil && e.State.Status != replay.Finished:
			if record := one.encodeEvent(e); f.sendable(record) {
				f.version = e.Version()
				f.send(record, e)
			}
		case a != nil:
			if record := one.encodeAudience(a); f.sendable(record) {
				f.send(record, nil)
			}
		case update == match.Update{}:
			return changed
		default: // The rest each does for itself.
			f.dissolve()
		}
	}
	f.ended = true
	f.service.fanouts.forget(f)
	return nil
}

// recover ends all streams after a panic: some may have missed an event.
func (f *fanout) recover() {
	p := recover()
	if p == nil {
		return
	}
	f.service.logPanic(p)
	for _, m := range f.members {
		if s, ok := m.stream.(Aborter); ok {
			s.Abort(errPanicked)
		}
	}
	f.dissolve()
	f.ended = true
	f.service.fanouts.forget(f)
}

// sendable dissolves the fanout if a message could not be encoded.
func (f *fanout) sendable(record any) bool {
	_, failed := record.(*pb.WatchResponse)
	if failed {
		f.dissolve()
	}
	return !failed
}

// send sends a message to all members, with the event that it is of, if any.
func (f *fanout) send(record any, e *match.Event) {
	for i := len(f.members) - 1; i >= 0; i-- {
		to := &f.members[i]
		if e != nil {
			if to.version >= e.Version() {
				continue
			}
			to.view.discountIfJoined(e)
			if i%latencySampleRate == 0 {
				f.service.Meter.FanOut(time.Since(e.Seen))
			}
		}
		if !to.stream.TrySend(record) {
			f.remove(i)
		}
	}
}

// fanouts are those of a Service.
type fanouts struct {
	group sync.WaitGroup

	mu sync.Mutex
	// latest is the one of each match that was made last, which may have room.
	latest map[*match.Match]*fanout
}

// fanoutOf returns the fanout of a match that has room for one more view. If none joins,
// the caller calls release.
func (s *Service) fanoutOf(m *match.Match) *fanout {
	all := &s.fanouts
	all.mu.Lock()
	defer all.mu.Unlock()
	f := all.latest[m]
	if f == nil || f.reserved >= fanoutSize {
		f = &fanout{service: s, match: m, emptied: make(chan struct{}, 1)}
		if all.latest == nil {
			all.latest = map[*match.Match]*fanout{}
		}
		all.latest[m] = f
	}
	f.reserved++
	return f
}

func (all *fanouts) release(f *fanout) {
	all.mu.Lock()
	defer all.mu.Unlock()
	if f.reserved--; f.reserved == 0 && all.latest[f.match] == f {
		delete(all.latest, f.match)
	}
}

// forget has views join other fanouts.
func (all *fanouts) forget(f *fanout) {
	all.mu.Lock()
	defer all.mu.Unlock()
	if all.latest[f.match] == f {
		delete(all.latest, f.match)
	}
}
