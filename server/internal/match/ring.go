package match

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/gridstand/gridstand/game/replay"
)

// ringSize is how many of the latest events a match keeps for its watchers. At
// the pace of a quick player, some ten moves a second, a watcher may stand
// still for six seconds before it gets a whole game instead of the events.
const ringSize = 64

// Event is an event of a match, shared by everybody who is shown it.
type Event struct {
	*replay.Event
	// Seen is when this server learnt of it.
	Seen time.Time

	encodedOnce
}

func newEvent(e *replay.Event) *Event { return &Event{Event: e, Seen: time.Now()} }

// Version is the version that the game has with the event.
func (e *Event) Version() int32 { return e.State.Version }

// encodedOnce holds what is shown to everybody in the form in which it goes
// out, without knowing that form.
type encodedOnce struct {
	once    sync.Once
	encoded any
}

// Encoded returns what encode returned when Encoded was first called.
func (e *encodedOnce) Encoded(encode func() any) any {
	e.once.Do(func() { e.encoded = encode() })
	return e.encoded
}

// ring holds the latest events. One goroutine at a time puts; any number may
// read meanwhile, without locks, so that ten thousand watchers who wake at once
// do not queue up behind each other.
type ring [ringSize]atomic.Pointer[Event]

func (r *ring) put(e *Event) { r[e.Version()%ringSize].Store(e) }

// at returns the event of a version; nil when it is not there any more, or not
// there yet.
func (r *ring) at(version int32) *Event {
	if version < 1 {
		return nil
	}
	if e := r[version%ringSize].Load(); e != nil && e.Version() == version {
		return e
	}
	return nil
}
