package steward

import (
	"maps"
	"slices"
	"sync"
)

// missed is the games to which this server did not come since Redis was away, or
// the server stopped, although it had claimed them or their bot was to move.
// Nobody needs to wait for the time of the claim then: the server puts them on
// the list again. There are not more than it has games in memory, and maxClaimed
// of which it did not hear.
type missed struct {
	mu    sync.Mutex
	games map[string]struct{}
}

func (m *missed) add(gameIDs ...string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.games == nil {
		m.games = map[string]struct{}{}
	}
	for _, id := range gameIDs {
		m.games[id] = struct{}{}
	}
}

// take returns all games, and forgets them.
func (m *missed) take() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	ids := slices.Collect(maps.Keys(m.games))
	m.games = nil
	return ids
}
