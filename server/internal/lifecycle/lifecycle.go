// Package lifecycle brings games from their creation to their recorded result: it
// has bots move, runs the clocks, replaces players whose clock ran out by a bot,
// ends abandoned games, pauses games between bots that no client watches,
// shows one of its own while no other game moves, and records results.
//
// Every server does this for the games that it appends to, at once, and for the
// games that the scheduler leases to it, so that a game goes on when its server has
// died. A game has a job in the queue from before its first entry until its result
// is recorded. Processing a game twice, or by two servers at the same time, does no
// harm: changes go through the game's log, and recording can be repeated.
package lifecycle

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/gridstand/gridstand/game"
	"github.com/gridstand/gridstand/game/replay"
	"github.com/gridstand/gridstand/server/internal/account"
	"github.com/gridstand/gridstand/server/internal/directory"
	"github.com/gridstand/gridstand/server/internal/gamelog"
	"github.com/gridstand/gridstand/server/internal/heartbeat"
	"github.com/gridstand/gridstand/server/internal/leaderboard"
	"github.com/gridstand/gridstand/server/internal/match"
	"github.com/gridstand/gridstand/server/internal/periodic"
	"github.com/gridstand/gridstand/server/internal/scheduler"
	"github.com/gridstand/gridstand/server/internal/store"
	"github.com/gridstand/gridstand/server/limits"
)

// Config is what a Manager works with. All fields are needed.
type Config struct {
	Exhibitions store.Exhibitions
	Log         *gamelog.Log
	Accounts    *account.Store
	Leaderboard *leaderboard.Boards
	Directory   *directory.Directory
	Scheduler   *scheduler.Scheduler
	Heartbeat   *heartbeat.Monitor
	Logger      *slog.Logger
	// AbandonAfter is the time without a move after which a game without clocks
	// ends, and WaitingFor the time after which a game ends that no player joins.
	AbandonAfter, WaitingFor time.Duration
	// OnlyUptime has those two count only the time in which a server ran.
	OnlyUptime bool
	// KeepFinished is how long a game is kept after its end.
	KeepFinished time.Duration
	// Limits bound the games between bots alone that run; PauseAfter is how long
	// one runs after a client last looked at it.
	Limits     limits.Limits
	PauseAfter time.Duration
	// Showcase has this server start exhibitions of its own; see showcase.
	Showcase bool
	// BotPace is how long a bot waits before it moves, so that people can
	// follow.
	BotPace time.Duration
	// Recorded is called with every final state that was recorded, possibly more
	// than once.
	Recorded func(final *replay.State)
}

// Manager does the work of this package on one server. It implements match.Agenda
// and rpc.Planner.
type Manager struct {
	Config
	bots        *bots
	exhibitions *exhibitions
	showcase    *showcase
}

// New makes a Manager. Run must be called for it to work.
func New(c Config) *Manager {
	m := &Manager{Config: c, exhibitions: newExhibitions(c)}
	m.showcase = newShowcase(m)
	m.bots = newBots(c.BotPace, c.Logger, c.Scheduler.Retry, m.running)
	return m
}

const (
	// beginIn is how long after Begin a game has its first entry, if it ever has:
	// longer than a call may take to append it.
	beginIn = scheduler.ReclaimWithin
	// answerWithin is how long the reply to a move may wait for what follows from
	// it, such as a result to be recorded.
	answerWithin = time.Second
)

// EnqueueSoon implements match.Agenda.
func (m *Manager) EnqueueSoon(ctx context.Context, gameID string) error {
	return m.Scheduler.EnqueueIn(ctx, gameID, scheduler.LeaseFor)
}

// Begin schedules a game that is about to be created.
func (m *Manager) Begin(ctx context.Context, gameID string) error {
	return m.Scheduler.EnqueueIn(ctx, gameID, beginIn)
}

// Plan lists a game that was created, and schedules what comes next.
func (m *Manager) Plan(ctx context.Context, state *replay.State) error {
	if state.Status == replay.Finished {
		return m.record(ctx, state)
	}
	if err := m.Directory.Put(ctx, directory.Of(state, 0)); err != nil {
		return err
	}
	if state.Status == replay.Waiting || state.TurnLimit > 0 || botToMove(state) != "" {
		// Now that the game is listed, other servers may have scheduled something.
		return m.Scheduler.EnqueueIn(ctx, state.ID, m.firstDelay(state))
	}
	return m.Scheduler.Set(ctx, state.ID, m.expiry(state))
}

// firstDelay is how long after its last event a game that was created is processed
// first, also if it expires before a lease would.
func (m *Manager) firstDelay(state *replay.State) time.Duration {
	if botToMove(state) != "" {
		return scheduler.LeaseFor
	}
	return min(scheduler.LeaseFor, m.expiry(state).Sub(state.UpdateTime))
}

// Within implements match.Agenda.
func (m *Manager) Within(ctx context.Context, next *replay.State) error {
	if next.Status == replay.Finished {
		return m.storeResult(ctx, next)
	}
	if err := m.EnqueueSoon(ctx, next.ID); err != nil {
		return err
	}
	if deadline := next.Deadline(); botToMove(next) == "" && !deadline.IsZero() {
		return m.Scheduler.EnqueueBy(ctx, next.ID, deadline)
	}
	return nil
}

// Appended implements match.Agenda: it records a result, so that the player who
// ended the game finds it recorded, schedules a deadline, and has a bot move whose
// turn it is. If that fails or takes long, the scheduler does it.
func (m *Manager) Appended(ctx context.Context, state *replay.State, within bool) {
	m.Heartbeat.NoteAppend(state.UpdateTime)
	deadline := state.Deadline()
	if state.Status != replay.Finished && botToMove(state) == "" && deadline.IsZero() {
		return // as after most moves
	}
	// Also if the caller has left, and on a server that stops.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), answerWithin)
	defer cancel()
	var err error
	switch {
	case state.Status == replay.Finished && within:
		m.Recorded(state)
	case state.Status == replay.Finished:
		err = m.record(ctx, state)
	case botToMove(state) != "":
		if !m.bots.schedule(state, 0) {
			err = m.Scheduler.EnqueueNow(ctx, state.ID)
		}
	case !within:
		err = m.Scheduler.EnqueueBy(ctx, state.ID, deadline)
	}
	if err != nil {
		m.Logger.Warn("what follows from a move is delayed", "id", "result-delayed", "game", state.ID, "error", err)
	}
}

// botToMove is the name of the bot whose turn it is, "" if it is no bot's.
func botToMove(state *replay.State) string {
	if turn := state.Turn(); turn != game.NoSeat {
		return state.Seats[turn].Mover()
	}
	return ""
}

// Run processes games that are due until ctx ends, and returns when everything
// that it started has ended.
func (m *Manager) Run(ctx context.Context, hub *match.Hub) {
	stopBots := m.bots.start(ctx, hub)
	var group sync.WaitGroup
	group.Go(func() { periodic.Run(ctx, reportEvery, func() { m.exhibitions.report(ctx) }) })
	group.Go(func() { m.showcase.run(ctx, hub) })
	m.Scheduler.Run(ctx, func(ctx context.Context, job store.Job) (time.Time, error) {
		return m.process(ctx, hub, job)
	})
	group.Wait()
	stopBots()
	m.Scheduler.HandOver(ctx)
}
