package match

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gridstand/gridstand/game"
	"github.com/gridstand/gridstand/game/replay"
	"github.com/gridstand/gridstand/server/internal/gamelog"
	"github.com/gridstand/gridstand/server/internal/store"
)

// ErrStopping means that this server is stopping; another may serve the game.
var ErrStopping = errors.New("the server is stopping")

// Agenda is told of games that have to be processed later.
type Agenda interface {
	// EnqueueSoon schedules the game to be processed within seconds, by any server that is
	// alive then. It returns when that is stored.
	EnqueueSoon(ctx context.Context, gameID string) error
	// Within stores what follows from an entry, in the transaction that appends it: the
	// result of a finished game, else that the game has to be processed. It is called
	// instead of EnqueueSoon if the store has transactions, with the state after the
	// entry, and again if the transaction fails.
	Within(ctx context.Context, next *replay.State) error
	// Appended is called with the state after each entry that this server appended, and
	// whether Within was called in the transaction. It returns within a second; for a
	// finished game it tries to record the result.
	Appended(ctx context.Context, state *replay.State, within bool)
}

// Observer is told what happens in the matches of this server, for lists and
// metrics. Its methods must not block.
type Observer interface {
	// Appended is called with each entry that this server appended.
	Appended(event *Event, watchers int)
	// Delivered is called for each new event, with how many watchers of this server
	// are shown it, players of the game included.
	Delivered(watchers int)
	// Conflicted is called when another server appended first.
	Conflicted()
	// Watched is called when the number of a game's watchers changed.
	Watched(state *replay.State, watchers int)
}

// Config is what a Hub works with. All fields are needed.
type Config struct {
	Log  *gamelog.Log
	Feed store.Feed
	// Transactional reports whether the store of the Log has transactions.
	Transactional bool

	Agenda   Agenda
	Observer Observer
	Logger   *slog.Logger
	// ServerID is unique to this server.
	ServerID string
	// Idle is how long a match without players and watchers stays in memory.
	Idle time.Duration
	// Stall is how long a watcher may take for one message, to the second.
	Stall time.Duration
}

// Hub holds the matches of one server.
type Hub struct {
	Config
	chunks chunks

	mu      sync.Mutex
	matches map[string]*Match
	closed  bool

	group    sync.WaitGroup // of the hub's goroutines
	stopping context.Context
	stop     context.CancelFunc
	watchers atomic.Int64
	ticks    atomic.Int64 // a clock of seconds that is quick to read, from 1
}

// NewHub makes a Hub. Run must be called for it to serve.
func NewHub(c Config) *Hub {
	ctx, cancel := context.WithCancel(context.Background())
	h := &Hub{
		Config: c, chunks: newChunks(), matches: map[string]*Match{}, stopping: ctx, stop: cancel,
	}
	h.ticks.Store(1)
	return h
}

// sweepEvery is how often unused matches are dropped, tick how often watchers are
// checked and counted. A followed game is checked against its log every followTicks,
// in case its feed lost an entry, unless the store confirmed the tip since: for 10,000
// watched games with moves on this server that saves 2,000 reads a second. Each match
// has its own phase, which spreads the checks.
const (
	sweepEvery  = 5 * time.Second
	tick        = time.Second
	followTicks = 5
)

// Run runs until ctx ends, and then until all the hub's goroutines have ended, while
// watchers and calls get ErrStopping.
func (h *Hub) Run(ctx context.Context) error {
	sweep, ticks := time.NewTicker(sweepEvery), time.NewTicker(tick)
	defer sweep.Stop()
	defer ticks.Stop()
	for {
		select {
		case <-ctx.Done():
			h.close()
			h.retractCounts()
			return nil
		case <-sweep.C:
			h.sweep(time.Now())
		case <-ticks.C:
			n := h.ticks.Add(1)
			for _, m := range h.all() {
				m.reap()
				if m.due(n, followTicks) && m.stale(n) && m.followed() {
					m.refresh()
				}
			}
			h.countAudiences(time.Now())
		}
	}
}

func (h *Hub) close() {
	h.mu.Lock()
	h.closed = true
	h.mu.Unlock()
	h.stop()
	for _, m := range h.all() {
		m.wake()
	}
	h.group.Wait()
}

// retractTimeout bounds retractCounts. Counts that it misses expire.
const retractTimeout = time.Second

// retractCounts reports to the other servers that this one has no watchers.
func (h *Hub) retractCounts() {
	ctx, cancel := context.WithTimeout(context.Background(), retractTimeout)
	defer cancel()
	var group sync.WaitGroup
	for _, m := range h.all() {
		if m.watching.reported.Swap(0) > 0 {
			group.Go(func() { _, _ = h.Log.Audience(ctx, m.id, h.ServerID, 0) })
		}
	}
	group.Wait()
}

// start runs f in a goroutine of the hub, unless the hub is closed. The match stays
// in memory while it runs.
func (h *Hub) start(m *Match, f func(context.Context)) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return false
	}
	m.refs++
	h.group.Go(func() {
		defer m.Release()
		f(h.stopping)
	})
	return true
}

// Acquire returns the match of a game, and loads it if it is not in memory. The caller
// releases it.
//
// Errors: gamelog.ErrNotFound, *gamelog.DamagedError, replay.ErrUnknown,
// ErrStopping, that of ctx, or one of the store.
func (h *Hub) Acquire(ctx context.Context, gameID string) (*Match, error) {
	for retried := false; ; retried = true {
		h.mu.Lock()
		if h.closed {
			h.mu.Unlock()
			return nil, ErrStopping
		}
		m, joined := h.matches[gameID]
		if !joined {
			m = newMatch(h, gameID)
			h.matches[gameID] = m
			m.refs++
			// In a goroutine, since other callers wait for it, too.
			h.group.Go(func() {
				defer m.Release()
				m.load(h.stopping)
			})
		}
		m.refs++
		h.mu.Unlock()

		select {
		case <-m.ready:
			if m.loadErr == nil {
				return m, nil
			}
			m.Release()
			if !joined || retried {
				return nil, m.loadErr
			}
			// The load may have begun before the call: a game that it did not find may
			// have been created since.
		case <-ctx.Done():
			m.Release()
			return nil, ctx.Err()
		}
	}
}

// Retain is Acquire for a match that the caller has not released yet.
func (m *Match) Retain() {
	m.hub.mu.Lock()
	defer m.hub.mu.Unlock()
	m.refs++
}

// Release gives back what Acquire returned.
func (m *Match) Release() {
	m.hub.mu.Lock()
	defer m.hub.mu.Unlock()
	m.refs--
	m.idleFrom = time.Now()
}

func (h *Hub) forget(m *Match) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.matches[m.id] == m {
		delete(h.matches, m.id)
	}
}

func (h *Hub) all() []*Match {
	h.mu.Lock()
	defer h.mu.Unlock()
	all := make([]*Match, 0, len(h.matches))
	for _, m := range h.matches {
		all = append(all, m)
	}
	return all
}

// Cached returns the loaded matches. The caller releases each.
func (h *Hub) Cached() []*Match {
	h.mu.Lock()
	defer h.mu.Unlock()
	var cached []*Match
	for _, m := range h.matches {
		if m.loaded() {
			m.refs++
			cached = append(cached, m)
		}
	}
	return cached
}

// WithRunningClock returns the states of the loaded matches in which a player's clock
// runs, without those whose log cannot be read.
func (h *Hub) WithRunningClock() []*replay.State {
	var clocked []*replay.State
	for _, m := range h.all() {
		if !m.loaded() || m.failure.Load() != nil {
			continue
		}
		if state := m.State(); !state.Deadline().IsZero() {
			clocked = append(clocked, state)
		}
	}
	return clocked
}

// loaded reports whether the match was loaded.
func (m *Match) loaded() bool {
	select {
	case <-m.ready:
		return m.loadErr == nil
	default:
		return false
	}
}

// Live returns the number of matches in memory.
func (h *Hub) Live() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.matches)
}

// Watchers returns how many watch matches on this server.
func (h *Hub) Watchers() int { return int(h.watchers.Load()) }

// softLimit is how many matches may be in memory before unused ones are dropped at
// once instead of after Config.Idle. A match of 2048 takes some 30 kB.
const softLimit = 100_000

func (h *Hub) sweep(now time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	idle := h.Idle
	if len(h.matches) > softLimit {
		idle = 0
	}
	for id, m := range h.matches {
		// A match whose watchers left stays until that was reported.
		if m.refs == 0 && m.watching.reported.Load() == 0 && now.Sub(m.idleFrom) >= idle {
			delete(h.matches, id)
		}
	}
}

// Create creates a game. If the ID was used for a game with the same content, it
// returns that game at its current version.
//
// Errors: ErrExists for one with other content, and those of Acquire.
func (h *Hub) Create(ctx context.Context, gameID string, created replay.Created, seed game.Seed) (*replay.State, error) {
	draft, err := gamelog.NewGame(gameID, created, seed)
	if err != nil {
		return nil, err
	}
	appended, err := h.Log.Append(ctx, draft)
	if errors.Is(err, store.ErrUnsettled) {
		appended, err = h.settle(ctx, gameID, draft)
	}
	var conflict *store.ConflictError
	switch {
	case err == nil:
		h.Observer.Appended(newEvent(appended.Event), 0)
		h.Agenda.Appended(ctx, appended.Tip.State, false)
		return appended.Tip.State, nil
	case errors.As(err, &conflict), errors.Is(err, store.ErrBroken):
		return h.Existing(ctx, gameID, created)
	default:
		return nil, err
	}
}

// ErrExists means that the ID was used for a game with other content.
var ErrExists = errors.New("the game was created with other content")

// Existing returns an existing game if it was created with the given content.
//
// Errors: ErrExists if it was not, and those of Acquire.
func (h *Hub) Existing(ctx context.Context, gameID string, created replay.Created) (*replay.State, error) {
	m, err := h.Acquire(ctx, gameID)
	if err != nil {
		return nil, err
	}
	defer m.Release()
	state, err := m.Confirm(ctx)
	if err != nil {
		return nil, err
	}
	first, found, err := h.Log.At(ctx, gameID, 1)
	if err != nil {
		return nil, err
	}
	entry, err := gamelog.EntryOf(first)
	if !found || err != nil {
		return nil, &gamelog.DamagedError{GameID: gameID, Detail: "its first entry cannot be read"}
	}
	if !entry.Same(replay.Entry{Seat: game.NoSeat, Action: created}) {
		return nil, ErrExists
	}
	return state, nil
}
