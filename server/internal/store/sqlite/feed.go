package sqlite

import (
	"context"
	"sync"

	"github.com/gridstand/gridstand/server/internal/store"
)

// feed implements store.Feed, and counts the spectators of each game in memory. Only one server uses
// the file. It appends all entries through its own matches, which therefore have them already, so the
// feed publishes none.
type feed struct {
	mu        sync.Mutex
	listeners map[string]store.Listener // by game
	watchers  map[string]int            // by game, of games that have any
}

func newFeed() *feed {
	return &feed{listeners: map[string]store.Listener{}, watchers: map[string]int{}}
}

func (f *feed) Follow(gameID string, l store.Listener) {
	f.mu.Lock()
	f.listeners[gameID] = l
	f.mu.Unlock()
	l.Listening()
}

func (f *feed) Leave(gameID string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.listeners, gameID)
}

// count returns the number of spectators of a game.
func (f *feed) count(gameID string) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.watchers[gameID]
}

// setCount stores the number of spectators of a game, and returns the game's listener or nil.
func (f *feed) setCount(gameID string, count int) store.Listener {
	f.mu.Lock()
	defer f.mu.Unlock()
	if count > 0 {
		f.watchers[gameID] = count
	} else {
		delete(f.watchers, gameID)
	}
	return f.listeners[gameID]
}

func (g games) Audience(_ context.Context, gameID, _ string, count int, shown store.Reactions) (int, error) {
	if l := g.feed.setCount(gameID, count); l != nil {
		l.AudienceCounted(count, shown)
	}
	return count, nil
}
