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

// Form is an encoding of messages, one for each protocol by which clients watch.
type Form uint8

// The forms.
const (
	// Prepared is gRPC's, ready to be sent.
	Prepared Form = iota
	// Message is the contract's message, for protocols that encode it for each client.
	Message
	// Record is a record of Server-Sent Events.
	Record

	forms
)

// encodedOnce keeps the encoded forms of a message that many watchers share.
type encodedOnce [forms]struct {
	once    sync.Once
	encoded any
}

// Encoded returns the result of encode, which only the first call for a form makes.
func (e *encodedOnce) Encoded(form Form, encode func() any) any {
	f := &e[form]
	f.once.Do(func() { f.encoded = encode() })
	return f.encoded
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
