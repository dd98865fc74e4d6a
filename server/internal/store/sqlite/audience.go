package sqlite

import (
	"context"
	"sync"

	"github.com/gridstand/gridstand/server/internal/store"
)

// audience counts the spectators of each game. It keeps the counts in memory, because
// they all come from this process.
type audience struct {
	mu    sync.Mutex
	games map[string]map[string]report // by game and server
}

type report struct {
	count int
	at    int64 // time of the report, in milliseconds
}

func newAudience() *audience { return &audience{games: map[string]map[string]report{}} }

// total returns the number of spectators of a game on all servers.
func (a *audience) total(gameID string, now int64) int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.sum(gameID, now)
}

// sum adds up the reports of a game, and removes expired ones. The caller must hold mu.
func (a *audience) sum(gameID string, now int64) (total int) {
	servers, ok := a.games[gameID]
	if !ok {
		return 0
	}
	for server, r := range servers {
		if r.count == 0 || now-r.at > store.AudienceTTL.Milliseconds() {
			delete(servers, server)
		}
		total += servers[server].count
	}
	if len(servers) == 0 {
		delete(a.games, gameID)
	}
	return total
}

// sweep removes all expired reports.
func (a *audience) sweep(now int64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for gameID := range a.games {
		a.sum(gameID, now)
	}
}

func (g games) Audience(_ context.Context, gameID, serverID string, count int, shown store.Reactions) (int, error) {
	now := g.db.now()
	g.audience.mu.Lock()
	defer g.audience.mu.Unlock()
	if g.audience.games[gameID] == nil {
		g.audience.games[gameID] = map[string]report{}
	}
	g.audience.games[gameID][serverID] = report{count, now}
	total := g.audience.sum(gameID, now)
	// Publish the total before another call can publish a newer one.
	g.feed.put(event{gameID: gameID, audience: total, shown: shown})
	return total, nil
}
