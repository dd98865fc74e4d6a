package steward

import (
	"context"
	_ "embed" // script
	"fmt"
	"log/slog"
	"sync"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
	"github.com/redis/go-redis/v9"
	"golang.org/x/sync/errgroup"

	"github.com/gridstand/gridstand/game/replay"
	"github.com/gridstand/gridstand/server/limits"
)

var (
	//go:embed exhibitions.lua
	exhibitionsSource string
	exhibitionsScript = redis.NewScript(exhibitionsSource)
)

const exhibitionsKey = "exhibitions"

const (
	// tellEvery is how often Redis is told of games that clients watch.
	tellEvery = 500 * time.Millisecond
	// tellers is how many games it is told of at the same time.
	tellers = 8
	// maxLeases bounds the running games that a server remembers.
	maxLeases = 1 << 12
	// maxAsked bounds the games that wait for the next round, which comes at
	// once, and maxLooks those that one round asks Redis about. The other games
	// wait for the round a second later.
	maxAsked, maxLooks = 1000, 64
)

// exhibitions lets games between bots alone run while clients look at them: those
// who made them are gone, as a rule, and bots think for ever. All servers share
// one set in Redis of the games that run, with the moments at which they are
// paused, which bounds how many there are of one player, of one address and in
// all.
type exhibitions struct {
	client redis.UniversalClient
	logger *slog.Logger
	limits limits.Limits
	// pauseAfter is how long a game runs after the last look at it. A look is
	// passed on to Redis once in refresh.
	pauseAfter, refresh time.Duration
	// resume is called with a game that was paused and runs again.
	resume func(ctx context.Context, gameID string) error

	// asked wakes run for a game that a client looked at.
	wake chan struct{}
	// leases are the games that Redis was asked about.
	leases *lru.Cache[string, lease]

	mu sync.Mutex
	// asked are the games that a client looked at since the last round, watched
	// those that clients watch on this server.
	asked   map[string]*look
	watched map[string]*look
}

// look is the interest of clients in a game.
type look struct {
	gameID, playerID, address string
	watchers                  int
}

// lease is what a server knows of a game between bots alone.
type lease struct {
	// until is when it is paused, or later.
	until time.Time
	// told is until when Redis need not be told of a look.
	told time.Time
}

func newExhibitions(c Config, resume func(ctx context.Context, gameID string) error) *exhibitions {
	leases, err := lru.New[string, lease](maxLeases)
	if err != nil {
		panic(err) // only for a size below 1
	}
	return &exhibitions{
		client: c.Client, logger: c.Logger, limits: c.Limits,
		pauseAfter: c.PauseAfter, refresh: c.PauseAfter / 12, resume: resume,
		wake: make(chan struct{}, 1), leases: leases, asked: map[string]*look{}, watched: map[string]*look{},
	}
}

// Admit counts a game between bots alone, which is about to be created, among
// those that run.
//
// Errors: *limits.ExceededError, or one of Redis or the context.
func (s *Steward) Admit(ctx context.Context, gameID, playerID, address string) error {
	_, err := s.exhibitions.run(ctx, gameID, playerID, address)
	return err
}

// Looked is told of a game that a client was shown. It never waits.
func (s *Steward) Looked(state *replay.State, address string) {
	if e := s.exhibitions; e.concerns(state) && !e.fresh(state.ID) {
		e.ask(&look{gameID: state.ID, playerID: state.Creator.ID, address: address})
	}
}

// Watched is told of a game that a client watches until it calls the function
// returned. It never waits.
func (s *Steward) Watched(state *replay.State, address string) (left func()) {
	e := s.exhibitions
	if !e.concerns(state) {
		return func() {}
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	l := e.watched[state.ID]
	if l == nil {
		l = &look{gameID: state.ID, playerID: state.Creator.ID, address: address}
		e.watched[state.ID] = l
		e.signal()
	}
	l.watchers++
	return func() {
		e.mu.Lock()
		defer e.mu.Unlock()
		if l.watchers--; l.watchers == 0 {
			delete(e.watched, l.gameID)
		}
	}
}

// concerns reports whether the state is of a game that may be paused.
func (e *exhibitions) concerns(state *replay.State) bool {
	return state.Status == replay.Active && state.Exhibition()
}

// fresh reports whether Redis was told of a look at a game a moment ago.
func (e *exhibitions) fresh(gameID string) bool {
	l, ok := e.leases.Get(gameID)
	return ok && time.Now().Before(l.told)
}

// ask has the next round, which comes at once, tell Redis of a look.
func (e *exhibitions) ask(l *look) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.asked[l.gameID] != nil || len(e.asked) >= maxAsked {
		return
	}
	e.asked[l.gameID] = l
	e.signal()
}

func (e *exhibitions) signal() {
	select {
	case e.wake <- struct{}{}:
	default:
	}
}

// work passes looks on to Redis until ctx ends.
func (e *exhibitions) work(ctx context.Context) {
	ticker := time.NewTicker(tellEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-e.wake:
		case <-ticker.C:
		}
		var group errgroup.Group
		group.SetLimit(tellers)
		for _, l := range e.due() {
			group.Go(func() error {
				e.pass(ctx, l)
				return nil
			})
		}
		_ = group.Wait()
	}
}

// due returns the looks that Redis is to be told of now.
func (e *exhibitions) due() []*look {
	e.mu.Lock()
	defer e.mu.Unlock()
	var due []*look
	for id, l := range e.asked {
		if len(due) == maxLooks {
			return due
		}
		delete(e.asked, id)
		due = append(due, l)
	}
	for id, l := range e.watched {
		if len(due) == maxLooks {
			return due
		}
		if !e.fresh(id) {
			due = append(due, l)
		}
	}
	return due
}

// pass tells Redis of a look, and has the game go on if it was paused. If there
// is no room for it, a game that is watched has its turn again.
func (e *exhibitions) pass(ctx context.Context, l *look) {
	ctx, cancel := context.WithTimeout(ctx, answerWithin)
	defer cancel()
	began, err := e.run(ctx, l.gameID, l.playerID, l.address)
	if err == nil && began {
		err = e.resume(ctx, l.gameID)
	}
	if err != nil {
		e.logger.Debug("a game between bots does not go on yet", "game", l.gameID, "error", err)
	}
}

// run lets a game run from now on for as long as one does after a look, and
// reports whether it was paused before, or is new.
func (e *exhibitions) run(ctx context.Context, gameID, playerID, address string) (began bool, err error) {
	now := time.Now()
	r, err := e.send(ctx, "run", gameID, playerID, address)
	if err != nil {
		return false, err
	}
	if full := r[2]; full != 0 {
		e.leases.Add(gameID, lease{told: now.Add(tellEvery)})
		field, whose := &e.limits.BotGamesPerStore, "all players"
		switch full {
		case 1:
			field, whose = &e.limits.BotGamesPerPlayer, "one account"
		case 2:
			field, whose = &e.limits.BotGamesPerAddress, "one address"
		}
		return false, e.limits.Exceeded(field,
			"games of "+whose+" run in which only bots play; one without watchers is soon paused",
			time.Duration(r[3])*time.Millisecond)
	}
	e.leases.Add(gameID, lease{until: now.Add(time.Duration(r[0]) * time.Millisecond), told: now.Add(e.refresh)})
	return r[1] == 1, nil
}

// running reports whether a game between bots alone runs. While this server knows
// that it does, Redis is not asked.
func (e *exhibitions) running(ctx context.Context, gameID string) (bool, error) {
	now := time.Now()
	known, ok := e.leases.Get(gameID)
	if ok && now.Before(known.until) {
		return true, nil
	}
	r, err := e.send(ctx, "ask", gameID, "", "")
	if err != nil {
		return false, err
	}
	if r[0] == 0 {
		return false, nil
	}
	e.leases.Add(gameID, lease{until: now.Add(time.Duration(r[0]) * time.Millisecond), told: known.told})
	return true, nil
}

// end takes a game off those that run, since it is over.
func (e *exhibitions) end(ctx context.Context, gameID string) error {
	_, err := e.send(ctx, "end", gameID, "", "")
	return err
}

func (e *exhibitions) send(ctx context.Context, order, gameID, playerID, address string) ([]int64, error) {
	r, err := exhibitionsScript.Run(ctx, e.client, []string{exhibitionsKey}, order, gameID, playerID, address,
		(e.pauseAfter + e.refresh).Milliseconds(),
		e.limits.BotGamesPerPlayer, e.limits.BotGamesPerAddress, e.limits.BotGamesPerStore).Int64Slice()
	if err == nil && len(r) != 4 {
		err = fmt.Errorf("a reply of %d numbers", len(r))
	}
	if err != nil {
		return nil, fmt.Errorf("counting games between bots: %w", err)
	}
	return r, nil
}
