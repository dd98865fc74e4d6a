package match

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gridstand/gridstand/game"
	"github.com/gridstand/gridstand/game/replay"
	"github.com/gridstand/gridstand/server/internal/gamelog"
	"github.com/gridstand/gridstand/server/internal/store"
)

// ErrStopping means that this server is stopping. Another server may serve the game.
var ErrStopping = errors.New("the server is stopping")

// Jobs processes games after an entry, or schedules them to be processed, and learns of changes that lists
// show.
type Jobs interface {
	// Hold schedules the game to be processed seconds later by any server that is running then, even if it
	// was due earlier, but at once after the time latest unless that is zero. It returns once the job is
	// stored, with the last time at which no server has processed it. last is the time of the game's last
	// entry.
	Hold(ctx context.Context, gameID string, last, latest time.Time) (time.Time, error)
	// Plan is called with the state of a game that Hub.Create has created, or found again. It adds the game to
	// the lists.
	Plan(ctx context.Context, state *replay.State) error
	// Appended is called with the state after each entry that this server appended. It must return
	// within a second. If the game is over, Appended tries to record the result.
	Appended(ctx context.Context, state *replay.State)
	// Attended is called about every ten seconds while players of a game that waits for others
	// watch it on this server.
	Attended(ctx context.Context, m *Match)
	// Changed is called after each entry that this server appended to an existing game, when the number that
	// Match.Spectators returns has changed, and periodically while the game is watched. It must not block.
	Changed(m *Match)
}

// Config configures a Hub. All fields are required, except Window, which only attempts need.
type Config struct {
	Log  *gamelog.Log
	Feed store.Feed
	Jobs Jobs
	// Window returns the period in which the player of an attempt at a challenge may play, excluding its
	// end. If fresh is set, Window reads it from the store; otherwise the result may be out
	// of date. The error is replay.ErrNotStarted if the start is not known yet.
	Window func(ctx context.Context, attempt *replay.State, fresh bool) (from, to time.Time, err error)
	// Delivered is called for each new event with the number of this server's watchers that
	// receive it, including players of the game. It must not block.
	Delivered func(watchers int)
	// ServerID is unique to this server.
	ServerID string
	// Idle is how long a match without calls and watchers stays in memory.
	Idle time.Duration
	// MaxEvents is the number of events from which a game accepts no moves and undos, or 0 for no
	// limit.
	MaxEvents int
}

// Hub holds the matches of one server.
type Hub struct {
	Config

	mu      sync.Mutex
	matches map[string]*Match
	closed  bool

	group    sync.WaitGroup  // tracks the hub's goroutines
	stopping context.Context // canceled with ErrStopping as its cause
	stop     context.CancelCauseFunc
	ticks    atomic.Int64 // number of ticks, starting at 1; faster to read than the clock
}

// NewHub returns a Hub, which serves games while Run is running.
func NewHub(c Config) *Hub {
	ctx, cancel := context.WithCancelCause(context.Background())
	h := &Hub{
		Config: c, matches: map[string]*Match{}, stopping: ctx, stop: cancel,
	}
	h.ticks.Store(1)
	return h
}

// Unused matches are dropped every sweepTicks. Watchers are checked and counted every tick.
// A followed game is checked against its log every followTicks, in case its feed lost an
// entry. The check is skipped if the store has confirmed the tip in the meantime. With
// 10,000 watched games that are played on this server, that saves 2,000 reads per second.
// Each match has its own phase, so that the checks are spread out.
const (
	tick        = time.Second
	sweepTicks  = 5
	followTicks = 5
	// tickParts is the number of parts of a tick. Each part checks some of the matches. If
	// all were checked at the same time, so many streams whose clients have left could end
	// at once that moves would have to wait.
	tickParts = 32
)

// Run runs the hub until ctx is done. It then stops the hub, so that watchers and calls get
// ErrStopping, and waits for all of the hub's goroutines.
func (h *Hub) Run(ctx context.Context) {
	parts := time.NewTicker(tick / tickParts)
	defer parts.Stop()
	var groups [][]*Match // the matches that are checked in each part of this tick
	for part := 0; ; part = (part + 1) % tickParts {
		select {
		case <-ctx.Done():
			h.close()
			h.retractCounts()
			return
		case now := <-parts.C:
			if part == 0 {
				if h.ticks.Add(1)%sweepTicks == 0 {
					h.sweep(now)
				}
				groups = h.groups()
			}
			h.check(groups[part], now)
			h.showReactions(groups[(part+tickParts/2)%tickParts], now)
		}
	}
}

// groups returns the matches, divided into a group for each part of a tick.
func (h *Hub) groups() [][]*Match {
	groups := make([][]*Match, tickParts)
	for _, m := range h.all() {
		part := m.phase % tickParts
		groups[part] = append(groups[part], m)
	}
	return groups
}

// check performs the periodic checks of the given matches.
func (h *Hub) check(matches []*Match, now time.Time) {
	n := h.ticks.Load()
	for _, m := range matches {
		m.reap()
		if (n+m.phase)%followTicks == 0 && m.stale(n) && m.followed() {
			m.refresh()
		}
		if m.loaded() {
			h.countAudience(m, now)
		}
	}
}

// Stopping returns a context that is canceled when the hub stops, with ErrStopping as the cause.
func (h *Hub) Stopping() context.Context { return h.stopping }

func (h *Hub) close() {
	h.mu.Lock()
	h.closed = true
	h.mu.Unlock()
	h.stop(ErrStopping)
	for _, m := range h.all() {
		m.wake()
	}
	h.group.Wait()
}

// retractTimeout limits the duration of retractCounts. Counts that were not retracted expire.
const retractTimeout = time.Second

// retractCounts reports to the other servers that this server no longer has any watchers.
func (h *Hub) retractCounts() {
	ctx, cancel := context.WithTimeout(context.Background(), retractTimeout)
	defer cancel()
	var group sync.WaitGroup
	for _, m := range h.all() {
		if m.watching.reported.Swap(0) > 0 {
			group.Go(func() { _, _ = h.Log.Audience(ctx, m.id, h.ServerID, 0, store.Reactions{}) })
		}
	}
	group.Wait()
}

// start runs f in a new goroutine of the hub, unless the hub is closed, and reports whether it did.
// The match stays in memory while f is running.
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

// Acquire returns the match of a game, and loads it if it is not in memory. The caller must
// release it.
//
// Errors: gamelog.ErrNotFound, *gamelog.DamagedError, replay.ErrUnknown, ErrStopping, the
// error from ctx, or an error from the store.
func (h *Hub) Acquire(ctx context.Context, gameID string) (*Match, error) {
	for {
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
			// Load in a goroutine, because other callers may be waiting for the match even
			// if this one gives up.
			h.group.Go(func() {
				defer m.Release()
				m.load(loading{h.stopping, ctx})
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
			if !joined {
				return nil, m.loadErr
			}
			// Retry, because the load may have begun before this call and the game may have
			// been created since, or because the store refused to read it for the other caller.
		case <-ctx.Done():
			m.Release()
			return nil, ctx.Err()
		}
	}
}

// loading is the context of a load. It ends with the hub, and has the values of the caller for which
// the load began.
type loading struct {
	context.Context
	caller context.Context
}

func (l loading) Value(key any) any { return l.caller.Value(key) }

// Retain acquires the match once more for a caller that has not released it yet.
func (m *Match) Retain() {
	m.hub.mu.Lock()
	defer m.hub.mu.Unlock()
	m.refs++
}

// Release releases a match that Acquire, Retain or Cached acquired.
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
	return slices.AppendSeq(make([]*Match, 0, len(h.matches)), maps.Values(h.matches))
}

// Cached returns the loaded matches. The caller must release each of them.
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

// loaded reports whether the match was loaded successfully.
func (m *Match) loaded() bool { return m.State() != nil }

// Live returns the number of matches in memory.
func (h *Hub) Live() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.matches)
}

// Spectators returns the number of spectators of all games on this server.
func (h *Hub) Spectators() (n int) {
	for _, m := range h.all() {
		n += int(m.watching.roles[Spectator].Load())
	}
	return n
}

// softLimit is the number of matches in memory above which unused ones are dropped
// at once instead of after Config.Idle. A match of 2048 takes 30 to 50 kB, and one address can load
// hundreds a second.
const softLimit = 4000

func (h *Hub) sweep(now time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	idle := h.Idle
	if len(h.matches) > softLimit {
		idle = 0
	}
	for id, m := range h.matches {
		// A match whose watchers have left stays until the new count has been reported.
		if m.refs == 0 && m.watching.reported.Load() == 0 && now.Sub(m.idleFrom) >= idle {
			delete(h.matches, id)
		}
	}
}

// Create creates a game, at the latest at the time notAfter by the store's clock; zero means no
// limit. If the ID was already used for a game with the same content, Create returns a state of
// that game. It calls Jobs.Plan in both cases. The content is what replay.Entry.Same compares: not the
// names of players and, except in an attempt, not the seed.
//
// Errors: ErrExists if the existing game has different content, store.ErrTooLate, the error of Jobs.Plan, and
// the errors that Acquire returns.
func (h *Hub) Create(
	ctx context.Context, gameID string, created replay.Created, seed game.Seed, notAfter time.Time,
) (*replay.State, error) {
	draft, err := gamelog.NewGame(gameID, created, seed)
	if err != nil {
		return nil, err
	}
	draft.NotAfter = notAfter
	err = h.holdAndAppend(ctx, gameID, draft)
	if errors.Is(err, store.ErrUnsettled) {
		err = h.settle(ctx, gameID, draft)
	}
	state := draft.Event.State
	switch _, conflict := errors.AsType[*store.ConflictError](err); {
	case err == nil:
		h.Jobs.Appended(ctx, state)
	case conflict, errors.Is(err, store.ErrBroken):
		state, err = h.Existing(ctx, gameID, created)
	}
	if err != nil {
		return nil, err
	}
	return state, h.Jobs.Plan(ctx, state)
}

// ErrExists means that the ID was used for a game with different content.
var ErrExists = errors.New("the game was created with different content")

// Existing returns the current state of an existing game if the game was created with the
// given content.
//
// Errors: ErrExists if the content differs, and the errors that Acquire returns.
func (h *Hub) Existing(ctx context.Context, gameID string, created replay.Created) (*replay.State, error) {
	m, err := h.Acquire(ctx, gameID)
	if err != nil {
		return nil, err
	}
	defer m.Release()
	tip, err := m.Confirm(ctx)
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
	return tip.State, nil
}
