package lifecycle

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
	"golang.org/x/sync/errgroup"

	"github.com/gridstand/gridstand/game/replay"
	"github.com/gridstand/gridstand/server/internal/gamelog"
	"github.com/gridstand/gridstand/server/internal/store"
	"github.com/gridstand/gridstand/server/limits"
)

const (
	// maxKnown bounds the running games that a server remembers.
	maxKnown = 1 << 12
	// maxViewed bounds the games that wait for the next report, and maxReported
	// those that one report covers. The other games wait for the report after it.
	maxViewed, maxReported = 1000, 500
	// reportEvery is the interval of reports, and reporters how many games are
	// reported at the same time.
	reportEvery = 500 * time.Millisecond
	reporters   = 8
)

// exhibitions lets games between bots alone run while clients look at them. Their
// creators rarely watch them to the end, and bots never stop by themselves. The
// store counts those that run, which bounds how many there are of one player, of one
// address and in all.
type exhibitions struct {
	store  store.Exhibitions
	log    *gamelog.Log
	logger *slog.Logger
	limits limits.Limits
	// pauseAfter is how long a game runs after a client last looked at it. Views
	// are reported to the store once in refresh.
	pauseAfter, refresh time.Duration
	// resume is called with a game that was paused and runs again.
	resume func(ctx context.Context, gameIDs ...string) error

	// known are the games that the store was asked about.
	known *lru.Cache[string, exhibition]

	mu sync.Mutex
	// viewed are the games that a client looked at since the last report, watched
	// those that clients watch on this server.
	viewed  map[string]*view
	watched map[string]*view
}

// exhibition is what a server knows of a game between bots alone.
type exhibition struct {
	// runsUntil is when it is paused, or later.
	runsUntil time.Time
	// reportedUntil is when the next view must be reported to the store.
	reportedUntil time.Time
}

// view is the interest of clients in a game.
type view struct {
	gameID, playerID, address string
	watchers                  int
}

func newExhibitions(c Config) *exhibitions {
	known, err := lru.New[string, exhibition](maxKnown)
	if err != nil {
		panic(err) // only for a size below 1
	}
	return &exhibitions{
		store: c.Exhibitions, log: c.Log, logger: c.Logger, limits: c.Limits,
		pauseAfter: c.PauseAfter, refresh: c.PauseAfter / 12, resume: c.Scheduler.EnqueueNow,
		known: known, viewed: map[string]*view{}, watched: map[string]*view{},
	}
}

// Admit counts a game between bots alone, which is about to be created, among
// those that run.
//
// Errors: *limits.ExceededError, or one of the store or the context.
func (m *Manager) Admit(ctx context.Context, gameID, playerID, address string) error {
	_, err := m.exhibitions.run(ctx, gameID, playerID, address)
	return err
}

// Looked is called with a game that a client was shown. It never waits.
func (m *Manager) Looked(state *replay.State, address string) {
	e := m.exhibitions
	if !pausable(state) || e.reported(state.ID) {
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.viewed[state.ID] == nil && len(e.viewed) < maxViewed {
		e.viewed[state.ID] = &view{gameID: state.ID, playerID: state.Creator.ID, address: address}
	}
}

// Watched is called with a game that a client watches until it calls the function
// returned. It never waits.
func (m *Manager) Watched(state *replay.State, address string) (left func()) {
	e := m.exhibitions
	if !pausable(state) {
		return func() {}
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	v := e.watched[state.ID]
	if v == nil {
		v = &view{gameID: state.ID, playerID: state.Creator.ID, address: address}
		e.watched[state.ID] = v
	}
	v.watchers++
	return func() {
		e.mu.Lock()
		defer e.mu.Unlock()
		if v.watchers--; v.watchers == 0 {
			delete(e.watched, v.gameID)
		}
	}
}

// pausable reports whether the state is of a game that may be paused.
func pausable(state *replay.State) bool {
	return state.Status == replay.Active && state.Exhibition()
}

// reported reports whether a view of a game was reported to the store a moment ago.
func (e *exhibitions) reported(gameID string) bool {
	known, ok := e.known.Get(gameID)
	return ok && time.Now().Before(known.reportedUntil)
}

// report reports views to the store.
func (e *exhibitions) report(ctx context.Context) {
	var group errgroup.Group
	group.SetLimit(reporters)
	for _, v := range e.unreported() {
		group.Go(func() error {
			e.reportView(ctx, v)
			return nil
		})
	}
	_ = group.Wait()
}

// unreported returns the views to be reported now.
func (e *exhibitions) unreported() []*view {
	e.mu.Lock()
	defer e.mu.Unlock()
	var views []*view
	for id, v := range e.viewed {
		if len(views) == maxReported {
			return views
		}
		delete(e.viewed, id)
		views = append(views, v)
	}
	for id, v := range e.watched {
		if len(views) == maxReported {
			return views
		}
		if !e.reported(id) {
			views = append(views, v)
		}
	}
	return views
}

// reportView reports a view to the store, and resumes the game if it was paused. If a
// limit keeps a watched game paused, it is reported again.
func (e *exhibitions) reportView(ctx context.Context, v *view) {
	ctx, cancel := context.WithTimeout(ctx, answerWithin)
	defer cancel()
	resumed, err := e.run(ctx, v.gameID, v.playerID, v.address)
	if err == nil && resumed {
		err = e.resume(ctx, v.gameID)
	}
	if err == nil && v.playerID == showcaseCreator {
		err = e.endIfOver(ctx, v.gameID)
	}
	if err != nil {
		e.logger.Debug("a game between bots stays paused for now", "game", v.gameID, "error", err)
	}
}

// run lets a game run as after a view from now on, and reports whether it was
// paused before, or is new.
func (e *exhibitions) run(ctx context.Context, gameID, playerID, address string) (resumed bool, err error) {
	if playerID == showcaseCreator {
		return e.runShowcase(ctx, gameID, e.pauseAfter)
	}
	return e.runFor(ctx, e.pauseAfter+e.refresh, store.Exhibition{GameID: gameID, PlayerID: playerID, Address: address}, store.ExhibitionLimits{
		PerPlayer: e.limits.BotGamesPerPlayer, PerAddress: e.limits.BotGamesPerAddress, PerStore: e.limits.BotGamesPerStore,
	})
}

// runFor lets a game run for a time from now on, within the limits, and reports whether
// it was paused before, or is new.
func (e *exhibitions) runFor(ctx context.Context, d time.Duration, of store.Exhibition, most store.ExhibitionLimits) (resumed bool, err error) {
	now, gameID := time.Now(), of.GameID
	r, err := e.store.Run(ctx, of, d, most)
	if err != nil {
		return false, counting(err)
	}
	if r.Full != store.NoLimit {
		e.known.Add(gameID, exhibition{reportedUntil: now.Add(reportEvery)})
		field, whose := &e.limits.BotGamesPerStore, "all players"
		switch r.Full {
		case store.PlayerLimit:
			field, whose = &e.limits.BotGamesPerPlayer, "one account"
		case store.AddressLimit:
			field, whose = &e.limits.BotGamesPerAddress, "one address"
		}
		return false, e.limits.Exceeded(field,
			"games of "+whose+" run in which only bots play; one without watchers is soon paused", r.Retry)
	}
	e.known.Add(gameID, exhibition{runsUntil: now.Add(d), reportedUntil: now.Add(e.refresh)})
	return r.Resumed, nil
}

// running reports whether a game between bots alone runs. While this server knows
// that it does, the store is not asked.
func (e *exhibitions) running(ctx context.Context, gameID string) (bool, error) {
	now := time.Now()
	known, ok := e.known.Get(gameID)
	if ok && now.Before(known.runsUntil) {
		return true, nil
	}
	left, err := e.store.Left(ctx, gameID)
	if err != nil || left <= 0 {
		return false, counting(err)
	}
	known.runsUntil = now.Add(left)
	e.known.Add(gameID, known)
	return true, nil
}

// end removes a game that is over from those that run.
func (e *exhibitions) end(ctx context.Context, gameID string) error {
	return counting(e.store.End(ctx, gameID))
}

// counting wraps an error of the store, or nil.
func counting(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("counting games between bots: %w", err)
}
