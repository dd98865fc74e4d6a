package sqlite

import (
	"bytes"
	"context"
	"sync"

	"github.com/gridstand/gridstand/server/internal/store"
)

// feed implements store.Feed within this process. The writer adds entries to it in commit
// order.
type feed struct {
	mu        sync.Mutex
	listeners map[string]store.Listener // by game
	// events holds the events that have not been delivered yet.
	events []event
	// behind holds the games whose listeners must read the log, because they are new or
	// because their events did not fit into events.
	behind map[string]struct{}
	wake   chan struct{} // holds one value if events or behind is not empty
}

// event is an event for a game's listener: an entry, or a new number of spectators.
type event struct {
	gameID   string
	record   store.Record
	audience int // −1 if the event is an entry
	shown    store.Reactions
}

// maxEvents is the maximum number of undelivered events.
const maxEvents = 4096

func newFeed() *feed {
	return &feed{listeners: map[string]store.Listener{}, behind: map[string]struct{}{}, wake: make(chan struct{}, 1)}
}

func (f *feed) Follow(gameID string, l store.Listener) {
	f.mu.Lock()
	f.listeners[gameID] = l
	f.behind[gameID] = struct{}{}
	f.mu.Unlock()
	f.nudge()
}

func (f *feed) Leave(gameID string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.listeners, gameID)
	delete(f.behind, gameID)
}

// published notifies the game's listener of a committed entry.
func (f *feed) published(gameID string, r store.Record) {
	f.put(event{gameID: gameID, record: r, audience: -1})
}

func (f *feed) put(e event) {
	f.mu.Lock()
	_, followed := f.listeners[e.gameID]
	if followed {
		if len(f.events) < maxEvents {
			e.record.Raw = bytes.Clone(e.record.Raw) // the caller may reuse it
			f.events = append(f.events, e)
		} else {
			f.behind[e.gameID] = struct{}{}
		}
	}
	f.mu.Unlock()
	if followed {
		f.nudge()
	}
}

func (f *feed) nudge() {
	select {
	case f.wake <- struct{}{}:
	default:
	}
}

func (f *feed) Run(ctx context.Context) error {
	var events []event
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-f.wake:
		}
		clear(events)
		f.mu.Lock()
		events, f.events = f.events, events[:0]
		f.mu.Unlock()
		// Tell the listeners that are behind first: they find the events that were
		// dropped in the log.
		f.listening()
		for _, e := range events {
			f.notify(e)
		}
	}
}

// listening calls Listening for all listeners that are behind.
func (f *feed) listening() {
	f.mu.Lock()
	listeners := make([]store.Listener, 0, len(f.behind))
	for gameID := range f.behind {
		listeners = append(listeners, f.listeners[gameID])
	}
	clear(f.behind)
	f.mu.Unlock()
	for _, l := range listeners {
		l.Listening()
	}
}

func (f *feed) notify(e event) {
	f.mu.Lock()
	l := f.listeners[e.gameID]
	if _, behind := f.behind[e.gameID]; behind {
		l = nil // Listening must be called first
	}
	f.mu.Unlock()
	switch {
	case l == nil:
	case e.audience < 0:
		l.Published(e.record)
	default:
		l.AudienceCounted(e.audience, e.shown)
	}
}
