package jobs

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gridstand/gridstand/game/replay"
	"github.com/gridstand/gridstand/internal/periodic"
	"github.com/gridstand/gridstand/server/internal/directory"
	"github.com/gridstand/gridstand/server/internal/liveness"
	"github.com/gridstand/gridstand/server/internal/match"
	"github.com/gridstand/gridstand/server/internal/store"
)

// Config configures a Manager. All fields are required.
type Config struct {
	liveness.Stores
	// A game without clocks ends if it has no moves for AbandonAfter. A game that is waiting
	// for players ends if no player joins within challenge.WaitsFor, or when all have left; see
	// desertedFor.
	AbandonAfter time.Duration
	// Showcase makes this server start showcases; see showcase.
	Showcase bool
	// BotPace is how long a bot waits before it moves, so that people can follow the game.
	BotPace time.Duration
}

// Manager performs the tasks of this package on one server. It implements match.Jobs and
// rpc.Demand.
type Manager struct {
	Config
	queue *queue
	bots  *bots
	// showcaseWanted is set after a client has listed live games while few were being played.
	showcaseWanted atomic.Bool
}

// New returns a Manager, which works while Run is running.
func New(c Config) *Manager {
	return &Manager{Config: c, queue: &queue{c.Queue, c.Logger}, bots: newBots(c.BotPace, c.Logger)}
}

// answerWithin limits the time that the reply to a move waits for follow-up work, such as
// recording a result.
const answerWithin = time.Second

// Hold implements match.Jobs.
func (m *Manager) Hold(ctx context.Context, gameID string, last, latest time.Time) (time.Time, error) {
	if !latest.IsZero() {
		latest = latest.Add(time.Millisecond)
	}
	due, err := m.queue.Hold(ctx, gameID, leaseFor, last, latest)
	return due.Add(-time.Millisecond), err
}

// Creates records the address from which a player creates games. Bots in the games from one
// address share its places to think; see bots.source.
func (m *Manager) Creates(playerID, address string) { m.bots.addresses.Add(playerID, address) }

// Opens implements rpc.Demand. The jobs are due at once, so that a job that is running and has found the race waiting
// cannot postpone itself. Each then finds out when the race opens, which is when a bot moves.
func (m *Manager) Opens(ctx context.Context, gameIDs ...string) error {
	return m.queue.EnqueueBy(ctx, store.AtOnce, gameIDs...)
}

// Plan implements match.Jobs. It adds a new game to the lists. The job that was held for its first entry finds out
// when the next one is due. Plan does not enqueue another: if it is slow, it would make a job due that another
// server holds by then.
func (m *Manager) Plan(ctx context.Context, state *replay.State) error {
	if state.Status == replay.Finished {
		return m.record(ctx, state)
	}
	return m.Directory.Put(ctx, directory.Of(state, 0))
}

// Appended implements match.Jobs. It records a result before the player who ended the
// game gets the reply, schedules a deadline, and makes a bot move if it is the bot's turn.
// If any of this fails or takes too long, the game's next job does it.
func (m *Manager) Appended(ctx context.Context, state *replay.State) {
	deadline := state.Deadline()
	finished := state.Status == replay.Finished
	if !finished && (state.BotToMove() == "" && deadline.IsZero() || waitsForOpen(state)) {
		return // the usual case after a move
	}
	// Do the work even if the caller has left or the server is stopping.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), answerWithin)
	defer cancel()
	var err error
	switch {
	case finished:
		err = m.record(ctx, state)
	case state.BotToMove() != "":
		if !m.bots.schedule(state, 0) || showcased(state) { // The job of a showcase ends it if another game is live.
			err = m.queue.EnqueueBy(ctx, store.AtOnce, state.ID)
		}
	default:
		err = m.queue.EnqueueBy(ctx, deadline, state.ID)
	}
	if err != nil {
		m.Logger.Warn("follow-up work of a move is delayed", "id", "result-delayed", "game", state.ID, "error", err)
	}
}

// Changed implements match.Jobs. It updates the lists, and continues a game between bots that may have been
// paused while no client watched it.
func (m *Manager) Changed(served *match.Match) {
	if state := served.State(); pausable(state) {
		m.bots.schedule(state, 0)
	}
	m.Directory.Touch(served.State().ID, func() store.Listing { return directory.Of(served.State(), served.Spectators()) })
}

// Run processes due games until ctx is done, and returns when all goroutines that it started have
// ended.
func (m *Manager) Run(ctx context.Context, hub *match.Hub) {
	stopBots := m.bots.start(ctx, hub)
	var group sync.WaitGroup
	group.Go(func() { periodic.Run(ctx, showEvery, func() { m.startShowcase(ctx, hub) }) })
	handle := func(ctx context.Context, job store.Job) (time.Time, error) { return m.process(ctx, hub, job) }
	periodic.Run(ctx, pollEvery, func() { m.queue.poll(ctx, handle) })
	group.Wait()
	stopBots()
}
