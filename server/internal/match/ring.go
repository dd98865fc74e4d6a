package match

import (
	"sync/atomic"
	"time"

	"github.com/gridstand/gridstand/game/replay"
)

// RingSize is the number of recent events that a match keeps for its watchers. If a player
// makes ten moves per second, a watcher can fall six seconds behind before it gets the state
// of the game instead of the missing events.
const RingSize = 64

// Event is an event of a match, shared by all its watchers.
type Event struct {
	*replay.Event
	// Seen is when this server received the event. It is zero if the event was read from the
	// log and is not in the ring.
	Seen time.Time

	EncodedOnce
}

// Version returns the version of the game after the event.
func (e *Event) Version() int32 { return e.State.Version }

// ring holds the latest events. One goroutine at a time writes; any number may read.
// Reading takes no lock, because 10,000 watchers that wake at the same time would contend
// for it.
type ring [RingSize]atomic.Pointer[Event]

// put adds the latest event and returns it in the form that all watchers share.
func (r *ring) put(e *replay.Event) *Event {
	shared := &Event{Event: e, Seen: time.Now()}
	r[e.State.Version%RingSize].Store(shared)
	return shared
}

// at returns the event that led to the given version, or nil if it was evicted or has not
// happened yet.
func (r *ring) at(version int32) *Event {
	if version < 1 {
		return nil
	}
	if e := r[version%RingSize].Load(); e != nil && e.Version() == version {
		return e
	}
	return nil
}
