package rpc

import (
	"context"
	"errors"
	"sync"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/gridstand/gridstand/game/replay"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
	"github.com/gridstand/gridstand/server/internal/match"
)

// Sharer is a stream whose protocol lets the server encode each message once for all
// streams, and send it without blocking on the client. Messages passed to its SendMsg are
// encoded if all watchers share them, and unencoded otherwise. Only one protocol may
// implement Sharer, because all such streams share the encoding match.Record.
type Sharer interface {
	Encode(m proto.Message) any
	// CanTry reports whether TrySend may be called.
	CanTry() bool
	// TrySend writes as much of an encoded message as the connection accepts without
	// blocking, and reports whether it wrote all of it. If not, the next SendMsg or
	// SendHeader writes the rest first.
	TrySend(m any) bool
	// Abort makes a call of SendMsg that is blocked, and all later ones, fail.
	Abort()
}

// fanout sends the updates of a game to many streams from one goroutine. With one
// goroutine per stream, the goroutines would take up half of the time needed to deliver an
// event. Their stacks, and the caches that they fill, would take up more than half of a
// stream's memory.
//
// A stream is a member while it is up to date and its client keeps up. In any other case,
// such as a slow client, the end of the game or an error, the stream leaves the fanout and
// continues in its own goroutine.
type fanout struct {
	service *Service
	match   *match.Match
	watcher match.Watcher // watches the game for all members; a match.Relay
	emptied chan struct{} // closed when Interrupt removes the last member

	mu      sync.Mutex
	members []member
	version int32 // version of the last update sent
	ended   bool  // set when the fanout accepts no more members, as soon as it has lost all
}

type member struct {
	stream  Sharer
	version int32 // version of the view when it joined
	view    *gameView
}

// fanoutSize is the maximum number of streams in a fanout. In a larger one, streams would
// wait for each other while processors sit idle.
const fanoutSize = 1024

// add adds v as a member and returns errJoined, unless v has an update to send first, which it
// returns. The error is errFull if only another fanout may accept v, or the reason why v's context
// is done.
func (f *fanout) add(v *gameView) (update match.Update, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.ended || len(f.members) == fanoutSize {
		f.makeWay()
		return update, errFull
	}
	defer func() {
		if len(f.members) == 0 {
			f.end()
		}
	}()
	if update, _ = v.watcher.Next(v.version); update != (match.Update{}) {
		return update, nil
	}
	v.in.Store(f)
	if err := context.Cause(v.stream.Context()); err != nil { // Interrupt ran before the view became a member.
		v.in.Store(nil)
		return update, err
	}
	v.index = len(f.members)
	f.members = append(f.members, member{v.sharer, v.version, v})
	if len(f.members) == 1 {
		f.start(v)
	}
	return update, errJoined
}

// start starts the goroutine, which sends the updates that are newer than the first
// member's version.
func (f *fanout) start(first *gameView) {
	f.version = first.version
	f.match.Retain()
	f.match.Watch(context.Background(), &f.watcher, match.Relay)
	f.watcher.SkipAudience(&first.watcher)
	f.service.sharing.Go(f.run)
}

// remove detaches the member at index i, which then runs on its own. The caller holds mu.
func (f *fanout) remove(i int) {
	v := f.members[i].view
	v.version = max(f.version, f.members[i].version)
	v.watcher.SkipAudience(&f.watcher)
	last := len(f.members) - 1
	f.members[i] = f.members[last]
	f.members[i].view.index = i
	f.members[last] = member{}
	f.members = f.members[:last]
	v.in.Store(nil)
	go v.followAlone()
}

// end makes the fanout accept no more members. The caller holds mu.
func (f *fanout) end() {
	f.ended = true
	f.makeWay()
}

// makeWay makes new views join another fanout.
func (f *fanout) makeWay() { f.service.fanouts.CompareAndDelete(f.match, f) }

// dissolve detaches all members. The caller holds mu.
func (f *fanout) dissolve() {
	for i := len(f.members) - 1; i >= 0; i-- {
		f.remove(i)
	}
}

// run sends updates until no member remains.
func (f *fanout) run() {
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

// deliver sends all new updates. It returns a channel that is closed when there may be
// more, or nil if no member remains.
func (f *fanout) deliver() (changed <-chan struct{}) {
	f.mu.Lock()
	defer f.mu.Unlock()
	defer f.recover()
	for len(f.members) > 0 {
		update, changed := f.watcher.Next(f.version)
		one := f.members[0].view
		switch e, a := update.Event, update.Audience; {
		case e != nil && e.State.Status != replay.Finished:
			f.send(one.encodeEvent(e), e)
		case a != nil:
			f.send(one.encodeAudience(a), nil)
		case update == match.Update{}:
			return changed
		default: // Each member handles the rest itself.
			f.dissolve()
		}
	}
	f.end()
	return nil
}

// recover detaches all members after a panic and ends their streams, because some may
// have missed an event.
func (f *fanout) recover() {
	p := recover()
	if p == nil {
		return
	}
	LogPanic(f.service.Logger, pb.GameService_Watch_FullMethodName, p)
	for _, m := range f.members {
		m.stream.Abort()
	}
	f.dissolve()
	f.end()
}

// send sends the encoded message record to all members. e is the event that it contains,
// or nil if it contains none. The caller holds mu.
func (f *fanout) send(record any, e *match.Event) {
	if _, failed := record.(*pb.WatchResponse); failed { // It could not be encoded once for all members.
		f.dissolve()
		return
	}
	if e != nil {
		f.version = e.Version()
	}
	for i := len(f.members) - 1; i >= 0; i-- {
		to := &f.members[i]
		if e != nil {
			if to.version >= e.Version() {
				continue
			}
			to.view.seatIfJoined(e)
			if i%latencySampleRate == 0 {
				f.service.Metrics.FanOut(time.Since(e.Seen))
			}
		}
		if !to.stream.TrySend(record) {
			f.remove(i)
		}
	}
}

var (
	// errJoined means that the view joined a fanout, which sends further updates.
	errJoined = errors.New("joined a fanout")
	// errFull means that the fanout has no room for another member, or has ended.
	errFull = errors.New("the fanout is full")
)

// join adds v to a fanout and returns errJoined, unless v has an update to send first, which it
// returns, or v's context is done.
func (v *gameView) join() (match.Update, error) {
	for {
		empty := &fanout{service: v.service, match: v.match, emptied: make(chan struct{})}
		f, _ := v.service.fanouts.LoadOrStore(v.match, empty)
		if update, err := f.(*fanout).add(v); !errors.Is(err, errFull) {
			return update, err
		}
	}
}

// Interrupt makes a view that Start started notice that its context is done.
func (v *View) Interrupt() {
	shared, ok := v.updates.(*gameView)
	if !ok {
		return
	}
	f := shared.in.Load()
	if f == nil {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if shared.in.Load() != f {
		return
	}
	f.remove(shared.index)
	if len(f.members) == 0 {
		f.end()
		close(f.emptied)
	}
}

// WaitShared waits for the goroutines of all fanouts. All views must have ended.
func (s *Service) WaitShared() { s.sharing.Wait() }
