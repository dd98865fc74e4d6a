package lifecycle

import (
	"context"
	"fmt"
	"log/slog"
	"strconv"
	"sync"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
	"golang.org/x/sync/errgroup"

	"github.com/gridstand/gridstand/game/replay"
	"github.com/gridstand/gridstand/server/internal/challenge"
	"github.com/gridstand/gridstand/server/internal/gamelog"
	"github.com/gridstand/gridstand/server/internal/store"
	"github.com/gridstand/gridstand/server/limits"
)

const (
	// maxKnown limits the number of games between bots that a server caches.
	maxKnown = 1 << 12
	// maxViewed limits the number of games that wait for the next report. maxReported limits
	// the number of games per report; the others wait for the next one.
	maxViewed, maxReported = 1000, 500
	// reportEvery is the interval between reports. reporters is the number of games that
	// are reported concurrently.
	reportEvery = 500 * time.Millisecond
	reporters   = 8
)

// exhibitions keeps games between bots running while clients view them. Their creators rarely
// watch them to the end, and bots never stop by themselves. The store counts running games,
// so that their number is limited per player, per address and in total.
type exhibitions struct {
	store  store.Exhibitions
	log    *gamelog.Log
	logger *slog.Logger
	limits limits.Limits
	// pauseAfter is how long a game keeps running after a client last viewed it. Views are
	// reported to the store once per refresh interval.
	pauseAfter, refresh time.Duration
	// resume continues paused games.
	resume func(ctx context.Context, gameIDs ...string) error

	// known caches what the store returned about games, by game id.
	known *lru.Cache[string, exhibition]

	mu sync.Mutex
	// viewed contains the games that clients viewed since the last report. watched contains
	// the games that clients are watching on this server.
	viewed  map[string]*view
	watched map[string]*view
}

// exhibition is what a server knows about a game between bots.
type exhibition struct {
	// runsUntil is the earliest time at which the game may be paused.
	runsUntil time.Time
	// reportedUntil is the time after which the next view must be reported to the store.
	reportedUntil time.Time
}

// view records that clients are viewing or watching a game.
type view struct {
	gameID, playerID, address string
	watchers                  int
}

func newExhibitions(c Config) *exhibitions {
	known, _ := lru.New[string, exhibition](maxKnown) // fails only for a size below 1
	return &exhibitions{
		store: c.Exhibitions, log: c.Log, logger: c.Logger, limits: c.Limits,
		pauseAfter: c.PauseAfter, refresh: c.PauseAfter / 12, resume: c.Scheduler.EnqueueNow,
		known: known, viewed: map[string]*view{}, watched: map[string]*view{},
	}
}

// Admit counts a game between bots as running, shortly before the game is created.
//
// Errors: *limits.ExceededError, or an error from the store or the context.
func (m *Manager) Admit(ctx context.Context, gameID, playerID, address string) error {
	_, err := m.exhibitions.run(ctx, gameID, playerID, address)
	return err
}

// AdmitRace counts the bots of a race as running for the duration d from now, or until their
// attempts are over. They are never paused, so that watchers do not affect the result. They count
// toward the address from which the race was created, but not toward the limit of a player,
// because a race may have more bots than that.
//
// Errors: *limits.ExceededError, or an error from the store or the context.
func (m *Manager) AdmitRace(ctx context.Context, c *challenge.Challenge, d time.Duration) error {
	var bots []string
	for _, entrant := range c.Entrants {
		if entrant.Bot != "" {
			bots = append(bots, entrant.GameID)
		}
	}
	if len(bots) == 0 {
		return nil
	}
	address := c.Creator.ID // for a race from an older server
	if c.Source != 0 {
		address = strconv.Itoa(int(c.Source))
	}
	_, err := m.exhibitions.runFor(ctx, d, store.Exhibition{GameIDs: bots, PlayerID: c.ID, Address: address}, m.exhibitions.most(0))
	return err
}

// Looked records that a client has viewed a game. It never blocks.
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

// Watched records that a client watches a game until the returned function is called. It
// never blocks.
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

// pausable reports whether the game may be paused.
func pausable(state *replay.State) bool {
	return state.Status == replay.Active && state.Exhibition()
}

// reported reports whether a view of the game was reported to the store so recently that
// another report is unnecessary.
func (e *exhibitions) reported(gameID string) bool {
	known, ok := e.known.Get(gameID)
	return ok && time.Now().Before(known.reportedUntil)
}

// report reports the current views to the store.
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

// unreported returns the views that have to be reported now.
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

// reportView reports a view to the store, and resumes the game if it was paused. A watched
// game that stays paused because of a limit is reported again later.
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
		e.logger.Debug("cannot keep a game between bots running", "game", v.gameID, "error", err)
	}
}

// run keeps a game running as if a client had just viewed it, and reports whether the game
// is new or was paused.
func (e *exhibitions) run(ctx context.Context, gameID, playerID, address string) (resumed bool, err error) {
	if playerID == showcaseCreator {
		// The game must be over pauseAfter after the last view, but it ends only after that
		// view was reported and the next bot's turn.
		return e.runShowcase(ctx, gameID, e.pauseAfter-e.refresh)
	}
	return e.runFor(ctx, e.pauseAfter+e.refresh,
		store.Exhibition{GameIDs: []string{gameID}, PlayerID: playerID, Address: strconv.Itoa(int(challenge.SourceOf(address)))},
		e.most(e.limits.BotGamesPerPlayer))
}

// most returns the limits for games that count toward the given limit of their player.
func (e *exhibitions) most(perPlayer int) store.ExhibitionLimits {
	return store.ExhibitionLimits{
		PerPlayer: perPlayer, PerAddress: e.limits.BotGamesPerAddress, PerStore: e.limits.BotGamesPerStore,
	}
}

// runFor keeps games running for the duration d if the limits allow it, and reports whether any
// of them is new or was paused.
func (e *exhibitions) runFor(ctx context.Context, d time.Duration, of store.Exhibition, most store.ExhibitionLimits) (resumed bool, err error) {
	now := time.Now()
	know := func(state exhibition) {
		for _, gameID := range of.GameIDs {
			e.known.Add(gameID, state)
		}
	}
	r, err := e.store.Run(ctx, of, d, most)
	if err != nil {
		return false, counting(err)
	}
	if r.Full != store.NoLimit {
		know(exhibition{reportedUntil: now.Add(reportEvery)})
		field, whose := &e.limits.BotGamesPerStore, "all players"
		switch r.Full {
		case store.PlayerLimit:
			field, whose = &e.limits.BotGamesPerPlayer, "one account"
		case store.AddressLimit:
			field, whose = &e.limits.BotGamesPerAddress, "one address"
		}
		return false, e.limits.Exceeded(field,
			"running games of "+whose+" with only bots, counting each bot in a race", r.Retry)
	}
	know(exhibition{runsUntil: now.Add(d), reportedUntil: now.Add(e.refresh)})
	return r.Resumed, nil
}

// running reports whether a game between bots is running. It asks the store only if this
// server does not know that the game is running.
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

// end stops counting a game as running, because it is over.
func (e *exhibitions) end(ctx context.Context, gameID string) error {
	return counting(e.store.End(ctx, gameID))
}

// counting wraps an error from the store. It returns nil if err is nil.
func counting(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("counting games between bots: %w", err)
}
