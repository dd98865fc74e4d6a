package sqlite

import (
	"cmp"
	"context"
	"sync"
	"time"

	"github.com/gridstand/gridstand/server/internal/store"
)

// maxExhibitions is the maximum number of running games with only bots, regardless of the
// limits.
const maxExhibitions = 1 << 14

// exhibitions implements store.Exhibitions in memory, because only one server uses the
// file. After a restart all games are paused, and bots in races no longer count.
type exhibitions struct {
	now func() time.Time

	mu    sync.Mutex
	games map[string]exhibition
}

// exhibition is a game that is running, or that has paused since the last call to Run.
type exhibition struct {
	playerID, address string
	until             time.Time
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

func (e *exhibitions) Run(ctx context.Context, of store.Exhibition, d time.Duration, limits store.ExhibitionLimits) (store.ExhibitionRun, error) {
	if err := ctx.Err(); err != nil {
		return store.ExhibitionRun{}, err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	now := e.now()
	paused := 0
	for _, id := range of.GameIDs {
		if !e.games[id].until.After(now) {
			paused++
		}
	}
	if paused > 0 {
		if full, retry := e.full(of, paused, now, limits); full != store.NoLimit {
			return store.ExhibitionRun{Full: full, Retry: cmp.Or(retry, d)}, nil
		}
	}
	for _, id := range of.GameIDs {
		game := e.games[id]
		if !game.until.After(now) {
			game = exhibition{playerID: of.PlayerID, address: of.Address}
		}
		game.until = now.Add(d)
		e.games[id] = game
	}
	return store.ExhibitionRun{Resumed: paused > 0}, nil
}

// full returns the limit that n more games would exceed, and the time until the next running
// game that counts toward the limit pauses (0 if no running game counts). It deletes the entries
// of paused games.
func (e *exhibitions) full(of store.Exhibition, n int, now time.Time, limits store.ExhibitionLimits) (store.ExhibitionLimit, time.Duration) {
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
			store.PlayerLimit:  other.playerID == of.PlayerID,
			store.AddressLimit: other.address == of.Address,
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
		if c.limit > 0 && c.running+n > c.limit {
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
