package sqlite

import (
	"context"
	"sync"
	"time"

	"github.com/gridstand/gridstand/server/internal/store"
)

// maxExhibitions is the maximum number of running games with only bots, regardless of the
// limits.
const maxExhibitions = 1 << 14

// exhibitions implements store.Exhibitions in memory, because only one server uses the
// file. After a restart all games are paused.
type exhibitions struct {
	now func() time.Time

	mu    sync.Mutex
	games map[string]exhibition
}

// exhibition is a game that is running, or that has paused since the last call to Run.
type exhibition struct {
	store.Exhibition
	until time.Time
}

func newExhibitions(now func() time.Time) *exhibitions {
	return &exhibitions{now: now, games: map[string]exhibition{}}
}

func (e *exhibitions) Left(ctx context.Context, gameID string) (time.Duration, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	game, ok := e.games[gameID]
	if !ok {
		return 0, nil
	}
	return max(0, game.until.Sub(e.now())), nil
}

func (e *exhibitions) Run(ctx context.Context, game store.Exhibition, d time.Duration, limits store.ExhibitionLimits) (store.ExhibitionRun, error) {
	if err := ctx.Err(); err != nil {
		return store.ExhibitionRun{}, err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	now := e.now()
	if known, ok := e.games[game.GameID]; ok && known.until.After(now) {
		known.until = now.Add(d)
		e.games[game.GameID] = known
		return store.ExhibitionRun{}, nil
	}
	if full, retry := e.full(game, now, limits); full != store.NoLimit {
		return store.ExhibitionRun{Full: full, Retry: retry}, nil
	}
	e.games[game.GameID] = exhibition{game, now.Add(d)}
	return store.ExhibitionRun{Resumed: true}, nil
}

// full returns the limit that keeps a game paused, and the time until the first game that
// counts toward the limit pauses. It removes paused games.
func (e *exhibitions) full(game store.Exhibition, now time.Time, limits store.ExhibitionLimits) (store.ExhibitionLimit, time.Duration) {
	perStore := maxExhibitions
	if limits.PerStore > 0 {
		perStore = min(perStore, limits.PerStore)
	}
	counts := [...]struct {
		limit, running int
		retry          time.Duration
	}{
		store.PlayerLimit:  {limit: limits.PerPlayer},
		store.AddressLimit: {limit: limits.PerAddress},
		store.StoreLimit:   {limit: perStore},
	}
	for id, other := range e.games {
		left := other.until.Sub(now)
		if left <= 0 {
			delete(e.games, id)
			continue
		}
		for limit, counted := range [...]bool{
			store.PlayerLimit:  other.PlayerID == game.PlayerID,
			store.AddressLimit: other.Address == game.Address,
			store.StoreLimit:   true,
		} {
			if c := &counts[limit]; counted {
				if c.running == 0 || left < c.retry {
					c.retry = left
				}
				c.running++
			}
		}
	}
	for limit, c := range counts {
		if c.limit > 0 && c.running >= c.limit {
			return store.ExhibitionLimit(limit), c.retry
		}
	}
	return store.NoLimit, 0
}

func (e *exhibitions) End(ctx context.Context, gameID string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	delete(e.games, gameID)
	return nil
}
