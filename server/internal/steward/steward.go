// Package steward sees to what must happen later to games: it moves the bots and
// runs the clocks, ends games that nobody plays any more, records results, and
// finds the games that a Redis which went back in time lost moves of. Every
// server has one, and they share one list in Redis of games and the moments at
// which somebody must look at them, so that what a server that died left undone
// is done by another.
//
// A game is on the list from before its first entry until its result is
// recorded. Looking at it twice, or by two servers at once, does no harm: what
// changes a game goes through its log, and recording can be repeated.
package steward

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/gridstand/gridstand/game"
	"github.com/gridstand/gridstand/game/replay"
	"github.com/gridstand/gridstand/server/internal/account"
	"github.com/gridstand/gridstand/server/internal/directory"
	"github.com/gridstand/gridstand/server/internal/gamelog"
	"github.com/gridstand/gridstand/server/internal/heartbeat"
	"github.com/gridstand/gridstand/server/internal/leaderboard"
	"github.com/gridstand/gridstand/server/internal/match"
	"github.com/gridstand/gridstand/server/internal/scheduler"
	"github.com/gridstand/gridstand/server/limits"
)

// Config is what a Steward works with. All fields are needed.
type Config struct {
	Client      redis.UniversalClient
	Log         *gamelog.Log
	Accounts    *account.Store
	Leaderboard *leaderboard.Boards
	Directory   *directory.Directory
	Scheduler   *scheduler.Scheduler
	Heartbeat   *heartbeat.Monitor
	Logger      *slog.Logger
	// AbandonAfter is after what time without a move a game without clocks
	// ends, and WaitingFor after what time one that nobody joins.
	AbandonAfter, WaitingFor time.Duration
	// KeepFinished is how long a game is kept after its end.
	KeepFinished time.Duration
	// Limits bound the games between bots alone that run; PauseAfter is how long
	// one runs after a client last looked at it.
	Limits     limits.Limits
	PauseAfter time.Duration
	// BotPace is how long a bot waits before it moves, so that people can
	// follow.
	BotPace time.Duration
	// Recorded is called with every final state that was recorded, also again.
	Recorded func(final *replay.State)
}

// Steward does what is due with games. It implements match.Agenda.
type Steward struct {
	Config
	bots        *bots
	exhibitions *exhibitions
}

// New makes a Steward. Run must be called for it to work.
func New(c Config) *Steward {
	s := &Steward{Config: c}
	s.exhibitions = newExhibitions(c, func(ctx context.Context, gameID string) error {
		return c.Scheduler.EnqueueNow(ctx, gameID)
	})
	s.bots = newBots(c.BotPace, c.Logger, c.Scheduler.Retry, s.exhibitions.running)
	return s
}

const (
	// beginIn is how long after Begin the first entry of a game is there, if it
	// ever comes: longer than a call may take to append it.
	beginIn = scheduler.ReclaimWithin
	// answerWithin is how long the answer to a move may wait for what follows
	// from it, such as a result to be recorded.
	answerWithin = time.Second
	// retryIn is when a clock is looked at again that has run out, but is still to
	// be credited.
	retryIn = 500 * time.Millisecond
	// damagedFor is when a damaged game is processed again, in case its log was
	// restored.
	damagedFor = time.Hour
)

// Soon implements match.Agenda.
func (s *Steward) Soon(ctx context.Context, gameID string) error {
	return s.Scheduler.EnqueueIn(ctx, gameID, scheduler.LeaseFor)
}

// Begin notes a game that is about to be created, before it is.
func (s *Steward) Begin(ctx context.Context, gameID string) error {
	return s.Scheduler.EnqueueIn(ctx, gameID, beginIn)
}

// Plan notes when a game that has begun must be looked at, and puts it in the
// lists.
func (s *Steward) Plan(ctx context.Context, state *replay.State) error {
	if state.Status == replay.Finished {
		return s.record(ctx, state)
	}
	if err := s.Directory.Put(ctx, directory.Of(state, 0)); err != nil {
		return err
	}
	if state.Status == replay.Waiting || state.TurnLimit > 0 || mover(state) != "" {
		// Others may have noted something already, now that it is listed: a
		// look settles it.
		return s.Scheduler.EnqueueIn(ctx, state.ID, s.firstLook(state))
	}
	return s.Scheduler.Set(ctx, state.ID, s.next(state))
}

// firstLook is how long after its last event a game that has begun is looked at,
// also if it would end before it is seen to soon.
func (s *Steward) firstLook(state *replay.State) time.Duration {
	if mover(state) != "" {
		return scheduler.LeaseFor
	}
	return min(scheduler.LeaseFor, s.next(state).Sub(state.UpdateTime))
}

// Appended implements match.Agenda: it records a result, so that whoever ended
// the game finds it recorded, notes a deadline, and lets a bot move whose turn
// it is. Where that fails or takes long, the list brings the game up again.
func (s *Steward) Appended(ctx context.Context, state *replay.State) {
	s.Heartbeat.NoteAppend(state.UpdateTime)
	var note func(context.Context) error
	switch deadline := state.Deadline(); {
	case state.Status == replay.Finished:
		note = func(ctx context.Context) error { return s.record(ctx, state) }
	case mover(state) != "" && !s.bots.schedule(state, 0):
		note = func(ctx context.Context) error { return s.Scheduler.EnqueueNow(ctx, state.ID) }
	case mover(state) != "":
	case !deadline.IsZero():
		note = func(ctx context.Context) error { return s.Scheduler.EnqueueBy(ctx, state.ID, deadline) }
	}
	if note == nil { // most moves
		return
	}
	// Also for a caller who left, and on a server that stops.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), answerWithin)
	defer cancel()
	if err := note(ctx); err != nil {
		s.Logger.Warn("game not seen to yet", "id", "result-delayed", "game", state.ID, "error", err)
	}
}

// mover is the bot that is to move, "" when a human is or nobody.
func mover(state *replay.State) string {
	if turn := state.Turn(); turn != game.NoSeat {
		return state.Seats[turn].Mover()
	}
	return ""
}

// next is when somebody must look at a game that is not over and in which no
// bot is to move, or not for now.
func (s *Steward) next(state *replay.State) time.Time {
	deadline := state.Deadline()
	switch {
	case !deadline.IsZero():
		return deadline
	case state.Status == replay.Waiting:
		return state.UpdateTime.Add(s.WaitingFor)
	case state.Exhibition():
		// It is paused, which is no reason to end it while the lists have it.
		return state.UpdateTime.Add(max(s.KeepFinished, s.AbandonAfter))
	}
	return state.UpdateTime.Add(s.AbandonAfter)
}

// record puts a finished game's scores on the leaderboard and the game where
// finished games are, and takes it off the list. Doing it again changes
// nothing.
func (s *Steward) record(ctx context.Context, final *replay.State) error {
	for _, result := range leaderboard.ResultsOf(final) {
		if err := s.Leaderboard.Record(ctx, result); err != nil {
			return err
		}
	}
	listing := directory.Of(final, 0)
	if err := s.Directory.Put(ctx, listing); err != nil {
		return err
	}
	for _, playerID := range listing.Players {
		if err := s.Accounts.Release(ctx, playerID, final.ID); err != nil {
			return err
		}
	}
	if err := s.Log.Expire(ctx, final.UpdateTime.Add(s.KeepFinished), final.ID); err != nil {
		return err
	}
	if final.Exhibition() {
		if err := s.exhibitions.end(ctx, final.ID); err != nil {
			return err
		}
	}
	if err := s.Scheduler.Remove(ctx, final.ID); err != nil {
		return err
	}
	s.Recorded(final)
	return nil
}

// Run processes what is due until ctx ends, and returns when all that it began has
// ended.
func (s *Steward) Run(ctx context.Context, hub *match.Hub) {
	stopBots := s.bots.start(ctx, hub)
	var group sync.WaitGroup
	group.Go(func() { s.exhibitions.work(ctx) })
	s.Scheduler.Run(ctx, func(ctx context.Context, job scheduler.Job) (time.Time, error) {
		return s.process(ctx, hub, job)
	})
	group.Wait()
	stopBots()
	s.Scheduler.HandOver(ctx)
}

// process does what is due with a game and returns the time when something is due
// next, zero for none.
func (s *Steward) process(ctx context.Context, hub *match.Hub, job scheduler.Job) (time.Time, error) {
	next, err := s.run(ctx, hub, job)
	var damaged *gamelog.DamagedError
	switch {
	case errors.As(err, &damaged):
		s.Logger.Error("game damaged", "id", "game-damaged", "game", job.GameID, "version", damaged.Version, "detail", damaged.Detail)
		return job.Expires.Add(damagedFor), nil
	case errors.Is(err, gamelog.ErrNotFound):
		// Its server died before the first entry, or it was kept long enough.
		return time.Time{}, nil
	case gamelog.IsStorage(err), errors.Is(err, match.ErrStopping):
		s.Scheduler.Retry(job.GameID)
	}
	return next, err
}

// run is process for a game that can be read.
func (s *Steward) run(ctx context.Context, hub *match.Hub, job scheduler.Job) (time.Time, error) {
	m, err := hub.Acquire(ctx, job.GameID)
	if err != nil {
		return time.Time{}, err
	}
	defer m.Release()
	state, err := m.Confirm(ctx)
	if err != nil {
		return time.Time{}, err
	}
	paused := false
	if state.Status == replay.Active && state.Exhibition() {
		running, err := s.exhibitions.running(ctx, job.GameID)
		if err != nil {
			return time.Time{}, err
		}
		paused = !running
	}
	if state.Status == replay.Active && mover(state) == "" || state.Status == replay.Waiting || paused {
		err = s.expire(ctx, m, state)
	}
	// What this server or another one appended meanwhile is seen to by it.
	var conflict *match.VersionConflictError
	if err != nil && !errors.Is(err, gamelog.ErrTooEarly) && !errors.Is(err, replay.ErrGameOver) && !errors.As(err, &conflict) {
		return time.Time{}, err
	}
	if state = m.State(); state.Status == replay.Finished {
		return time.Time{}, s.record(ctx, state)
	}
	next := s.next(state)
	if next.Before(job.Leased) {
		next = job.Leased.Add(retryIn) // The clock is to be credited once an outage is settled.
	}
	if mover(state) != "" && !paused {
		// Not here, where others wait for their turn. If it comes to nothing,
		// the game comes up again.
		s.bots.schedule(state, job.Leased.Sub(state.UpdateTime))
		next = job.Expires
	}
	return next, s.Directory.Put(ctx, directory.Of(state, m.Watchers()))
}

// overdue appends what happens when nobody moves for too long. Whether it is
// time is for Redis's clock to say when it appends; before, the error is
// gamelog.ErrTooEarly.
func (s *Steward) expire(ctx context.Context, m *match.Match, state *replay.State) error {
	call := match.Call{Version: state.Version, Seat: game.NoSeat, Action: replay.Abandoned{}, NotBefore: s.next(state)}
	if !state.Deadline().IsZero() {
		credit, err := s.Heartbeat.Credit(ctx, state)
		if err != nil {
			return err
		}
		call.Seat, call.Action = state.Turn(), timeUp(state, credit)
	}
	_, err := m.Do(ctx, call)
	return err
}

// standIn is the bot that moves for players whose clock ran out.
const standIn = "greedy"

// timeUp is what happens when the deadline of a clock has come: the clock gets the
// credit for outages, else it has run out.
func timeUp(state *replay.State, credit time.Duration) replay.Action {
	switch {
	case credit > 0:
		return replay.ClockExtended{By: credit}
	case state.LastHuman(state.Turn()):
		return replay.TimedOut{}
	}
	return replay.TimedOut{StandIn: standIn}
}
