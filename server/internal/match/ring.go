package match

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/gridstand/gridstand/game/replay"
)

// ringSize is how many of the latest events a match keeps for its watchers. A
// watcher of a player who makes ten moves a second may fall six seconds behind before
// it gets the whole game instead of the events.
const ringSize = 64

// Event is an event of a match, shared by all its watchers.
type Event struct {
	*replay.Event
	// Seen is when this server received it.
	Seen time.Time

	encodedOnce
}

func newEvent(e *replay.Event) *Event { return &Event{Event: e, Seen: time.Now()} }

// Version returns the version of the game after the event.
func (e *Event) Version() int32 { return e.State.Version }

// encodedOnce keeps the encoded form of a message that many watchers share.
type encodedOnce struct {
	once    sync.Once
	encoded any
}

// Encoded returns the result of encode, which only the first call makes.
func (e *encodedOnce) Encoded(encode func() any) any {
	e.once.Do(func() { e.encoded = encode() })
	return e.encoded
}

// ring holds the latest events. One goroutine at a time puts events; any number read
// them at the same time without a lock, for which ten thousand watchers that wake
// together would queue.
type ring [ringSize]atomic.Pointer[Event]

func (r *ring) put(e *Event) { r[e.Version()%ringSize].Store(e) }

// at returns the event of a version, nil if it was evicted or is yet to come.
func (r *ring) at(version int32) *Event {
	if version < 1 {
		return nil
	}
	if e := r[version%ringSize].Load(); e != nil && e.Version() == version {
		return e
	}
	return nil
}
