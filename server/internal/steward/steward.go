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
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"
	"golang.org/x/sync/errgroup"

	"github.com/gridstand/gridstand/game"
	"github.com/gridstand/gridstand/game/replay"
	"github.com/gridstand/gridstand/game/variants"
	"github.com/gridstand/gridstand/server/internal/account"
	"github.com/gridstand/gridstand/server/internal/directory"
	"github.com/gridstand/gridstand/server/internal/gamelog"
	"github.com/gridstand/gridstand/server/internal/heartbeat"
	"github.com/gridstand/gridstand/server/internal/leaderboard"
	"github.com/gridstand/gridstand/server/internal/match"
	"github.com/gridstand/gridstand/server/internal/periodic"
	"github.com/gridstand/gridstand/server/limits"
)

// Config is what a Steward works with. All fields are needed.
type Config struct {
	// ServerID tells this server from the others.
	ServerID string
	Client   redis.UniversalClient
	// Once is a client that sends no command again by itself.
	Once        redis.UniversalClient
	Log         *gamelog.Log
	Accounts    *account.Store
	Leaderboard *leaderboard.Boards
	Directory   *directory.Directory
	Logger      *slog.Logger
	// AbandonAfter is after what time without a move a game without clocks
	// ends, and WaitingFor after what time one that nobody joins.
	AbandonAfter, WaitingFor time.Duration
	// KeepFinished is for how long a game is kept after its end. One that an
	// all-time board points to is kept for as long as it does.
	KeepFinished time.Duration
	// Limits bound the games between bots alone that run; PauseAfter is how long
	// one runs after the last look at it.
	Limits     limits.Limits
	PauseAfter time.Duration
	// BotPace is how long a bot waits before it moves, so that people can
	// follow.
	BotPace time.Duration
	// Memory is how long a server holds a game in memory at least that nobody
	// plays or watches any more.
	Memory time.Duration
	// Recorded is called with every final state that was recorded, also again.
	Recorded func(final *replay.State)
}

// Steward works through the list. It implements match.Agenda.
type Steward struct {
	Config
	agenda      agenda
	bots        *bots
	exhibitions *exhibitions
	missed      *missed

	// unheard is when the first claim began of which it is not known whether Redis
	// carried it out; zero for none. Only round uses it.
	unheard time.Time
	// Heartbeat is this server's.
	Heartbeat *heartbeat.Monitor
	// orphaned is set while leases of missing servers are still to be taken over.
	orphaned atomic.Bool
	// attested and swept are the last rollbacks that this server has verified its
	// cached games against and has quarantined games after; only rewound uses them.
	attested, swept int64
}

// New makes a Steward. Run must be called for it to work.
func New(c Config) *Steward {
	missed := &missed{}
	agenda := agenda{c.Client, c.Once}
	exhibitions := newExhibitions(c, func(ctx context.Context, gameID string) error { return agenda.now(ctx, gameID) })
	s := &Steward{
		Config: c, agenda: agenda, exhibitions: exhibitions,
		bots: newBots(c.BotPace, c.Logger, missed, exhibitions.running), missed: missed,
	}
	s.Heartbeat = heartbeat.New(heartbeat.Config{
		ServerID: c.ServerID, Client: c.Client, Logger: c.Logger, OnMissing: func() { s.orphaned.Store(true) },
	})
	return s
}

const (
	// lookEvery is how often the list is asked for games that are due.
	lookEvery = 500 * time.Millisecond
	// soonIn is when a game is looked at whose server should have seen to it
	// itself by then: the one that appended to it, or that claimed it.
	soonIn = 10 * time.Second
	// beginIn is when the first entry of a game is there, if it ever comes: longer
	// than a call may take to append it.
	beginIn = 30 * time.Second
	// answerWithin is how long the answer to a move may wait for what follows
	// from it, such as a result to be recorded.
	answerWithin = time.Second
	// damagedFor is after what time a damaged game is looked at again, in case
	// its log was brought back.
	damagedFor = time.Hour
	// batch is how many games are claimed at once, and lookers how many of
	// them are looked at at the same time.
	batch   = 64
	lookers = 8
)

// Soon implements match.Agenda.
func (s *Steward) Soon(ctx context.Context, gameID string) error {
	return s.agenda.soon(ctx, gameID, soonIn)
}

// Begin notes a game that is about to be created, before it is.
func (s *Steward) Begin(ctx context.Context, gameID string) error {
	return s.agenda.soon(ctx, gameID, beginIn)
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
		return s.agenda.soon(ctx, state.ID, s.firstLook(state))
	}
	return s.agenda.at(ctx, state.ID, s.next(state))
}

// firstLook is how long after its last event a game that has begun is looked at,
// also if it would end before it is seen to soon.
func (s *Steward) firstLook(state *replay.State) time.Duration {
	if mover(state) != "" {
		return soonIn
	}
	return min(soonIn, s.next(state).Sub(state.UpdateTime))
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
		note = func(ctx context.Context) error { return s.agenda.now(ctx, state.ID) }
	case mover(state) != "":
	case !deadline.IsZero():
		note = func(ctx context.Context) error { return s.agenda.by(ctx, state.ID, deadline) }
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
	for _, result := range results(final) {
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
	if err := s.agenda.remove(ctx, final.ID); err != nil {
		return err
	}
	s.Recorded(final)
	return nil
}

// Run works through the list until ctx ends, and returns when all that it began
// has ended.
func (s *Steward) Run(ctx context.Context, hub *match.Hub) error {
	stopBots := s.bots.start(ctx, hub)
	var group sync.WaitGroup
	defer func() {
		group.Wait()
		unmoved := stopBots()
		s.handOver(ctx, append(s.missed.take(), unmoved...))
	}()
	group.Go(func() { s.Heartbeat.Run(ctx, hub) })
	group.Go(func() { periodic.Run(ctx, lookEvery, func() { s.round(ctx, hub) }) })
	group.Go(func() { s.exhibitions.work(ctx) })
	group.Go(func() { periodic.Run(ctx, heartbeat.Interval, func() { s.rewound(ctx, hub) }) })
	group.Go(func() {
		periodic.Run(ctx, s.renewEvery(), func() {
			s.renew(ctx)
			s.patrol(ctx)
		})
	})
	return nil
}

// handOver leaves games to the other servers, so that nobody waits for what
// this one did not come to before it stopped.
func (s *Steward) handOver(ctx context.Context, gameIDs []string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), answerWithin)
	defer cancel()
	if err := s.agenda.now(ctx, gameIDs...); err != nil {
		s.Logger.Warn("games not handed over; they come up again", "id", "games-not-handed-over", "games", len(gameIDs), "error", err)
	}
}

// round looks at all games that are due, and first at those that were missed.
func (s *Steward) round(ctx context.Context, hub *match.Hub) {
	if !s.unheard.IsZero() {
		ids, err := s.agenda.claimed(ctx, time.Since(s.unheard), soonIn)
		if err != nil {
			s.Logger.Debug("cannot see what was claimed", "error", err)
			return
		}
		s.missed.add(ids...)
		s.unheard = time.Time{}
	}
	if s.orphaned.Swap(false) {
		ids, err := s.agenda.claimed(ctx, beginIn, beginIn)
		if err != nil {
			s.orphaned.Store(true)
			s.Logger.Debug("cannot see what missing servers had leased", "error", err)
			return
		}
		s.missed.add(ids...)
	}
	missed := s.missed.take()
	if err := s.agenda.now(ctx, missed...); err != nil {
		s.missed.add(missed...)
		s.Logger.Debug("cannot say what was missed", "error", err)
		return
	}
	for ctx.Err() == nil {
		began := time.Now()
		ids, until, err := s.agenda.claim(ctx, batch, soonIn)
		if err != nil {
			s.unheard = began
			s.Logger.Debug("cannot see what is due", "error", err)
			return
		}
		// In no order, so that games on a part of Redis that does not answer do not
		// stand before the others each time.
		rand.Shuffle(len(ids), func(i, j int) { ids[i], ids[j] = ids[j], ids[i] })
		// When the claim ends others look at what is left.
		looking, done := context.WithDeadline(ctx, began.Add(soonIn))
		var group errgroup.Group
		group.SetLimit(lookers)
		for _, id := range ids {
			group.Go(func() error {
				s.look(looking, hub, id, until)
				return nil
			})
		}
		_ = group.Wait()
		done()
		if len(ids) < batch {
			return
		}
	}
}

// look does what is due with a game, and notes what comes next. Where that
// fails the game comes up again: in the next round if Redis is to blame or time
// was short, and else after a time in which others may do better.
func (s *Steward) look(ctx context.Context, hub *match.Hub, gameID string, until time.Time) {
	next, err := s.see(ctx, hub, gameID, until)
	var damaged *gamelog.DamagedError
	switch {
	case errors.As(err, &damaged):
		s.Logger.Error("game damaged", "id", "game-damaged", "game", gameID, "version", damaged.Version, "detail", damaged.Detail)
		next, err = until.Add(damagedFor), nil
	case errors.Is(err, gamelog.ErrNotFound):
		// Its server died before the first entry, or it was kept long enough.
		next, err = time.Time{}, nil
	}
	if err == nil {
		err = s.agenda.settle(ctx, gameID, until, next)
	}
	if gamelog.IsStorage(err) || errors.Is(err, match.ErrStopping) {
		s.missed.add(gameID)
	}
	if err != nil && !errors.Is(err, context.Canceled) {
		s.Logger.Warn("game not seen to; it comes up again", "id", "game-retried", "game", gameID, "error", err)
	}
}

// see does what is due with a game that was claimed until a moment, and returns
// the next moment; zero for none.
func (s *Steward) see(ctx context.Context, hub *match.Hub, gameID string, until time.Time) (time.Time, error) {
	m, err := hub.Acquire(ctx, gameID)
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
		running, err := s.exhibitions.running(ctx, gameID)
		if err != nil {
			return time.Time{}, err
		}
		paused = !running
	}
	if state.Status == replay.Active && mover(state) == "" || state.Status == replay.Waiting || paused {
		err = s.overdue(ctx, m, state)
	}
	// What this server or another one appended meanwhile is seen to by it.
	var conflict *match.VersionConflictError
	if err != nil && !errors.Is(err, gamelog.ErrTooEarly) && !errors.Is(err, replay.ErrGameOver) && !errors.As(err, &conflict) {
		return time.Time{}, err
	}
	if state = m.State(); state.Status == replay.Finished {
		return time.Time{}, s.record(ctx, state)
	}
	next, now := s.next(state), until.Add(-soonIn)
	if next.Before(now) {
		next = now.Add(lookEvery) // The clock is still to be credited, or not yet.
	}
	if mover(state) != "" && !paused {
		// Not here, where others wait for their turn. If it comes to nothing,
		// the game comes up again.
		s.bots.schedule(state, now.Sub(state.UpdateTime))
		next = until
	}
	return next, s.Directory.Put(ctx, directory.Of(state, m.Watchers()))
}

// overdue appends what happens when nobody moves for too long. Whether it is
// time is for Redis's clock to say when it appends; before, the error is
// gamelog.ErrTooEarly.
func (s *Steward) overdue(ctx context.Context, m *match.Match, state *replay.State) error {
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

// renewEvery is how often games that the boards point to are kept for longer:
// well before they would end.
func (s *Steward) renewEvery() time.Duration {
	return max(lookEvery, min(time.Hour, s.KeepFinished/4))
}

// renew lets the games live on to which all-time boards point, so that every
// score there can be proved, and takes those off the lists that are past. The
// servers all do it, which costs a little and needs no agreement.
func (s *Steward) renew(ctx context.Context) {
	now, err := s.Client.Time(ctx).Result()
	if err != nil {
		s.Logger.Warn("games on the boards not kept for longer yet, nor lists trimmed", "id", "games-not-renewed", "error", err)
		return
	}
	until := now.Add(s.KeepFinished)
	var ids []string
	for _, v := range variants.All() {
		ids = append(ids, v.ID)
		err := s.Leaderboard.Games(ctx, v.ID, func(gameIDs []string) error {
			return s.Log.Expire(ctx, until, gameIDs...)
		})
		if err != nil {
			s.Logger.Warn("games on a board not kept for longer yet", "id", "board-games-not-renewed", "variant", v.ID, "error", err)
		}
	}
	if err := s.Directory.Trim(ctx, ids); err != nil {
		s.Logger.Warn("lists not trimmed yet", "id", "lists-not-trimmed", "error", err)
	}
}
