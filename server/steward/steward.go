// Package steward sees to what must happen later to games: it records results
// and ends games that nobody plays any more. Every server has one, and they
// share one list in Redis of games and the moments at which somebody must look
// at them, so that what a server that died left undone is done by another.
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
	"github.com/gridstand/gridstand/game/variants"
	"github.com/gridstand/gridstand/server/account"
	"github.com/gridstand/gridstand/server/directory"
	"github.com/gridstand/gridstand/server/gamelog"
	"github.com/gridstand/gridstand/server/leaderboard"
	"github.com/gridstand/gridstand/server/match"
)

// Config is what a Steward works with. All fields are needed.
type Config struct {
	Client      redis.UniversalClient
	Log         *gamelog.Log
	Accounts    *account.Store
	Leaderboard *leaderboard.Boards
	Directory   *directory.Directory
	Logger      *slog.Logger
	// AbandonAfter is after what time without a move a game ends.
	AbandonAfter time.Duration
	// KeepFinished is for how long a game is kept after its end. One that an
	// all-time board points to is kept for as long as it does.
	KeepFinished time.Duration
	// Recorded is called with every final state that was recorded, also again.
	Recorded func(final *replay.State)
}

// Steward works through the list. It implements match.Agenda.
type Steward struct {
	Config
	agenda agenda
}

// New makes a Steward.
func New(c Config) *Steward { return &Steward{Config: c, agenda: agenda{c.Client}} }

const (
	// lookEvery is how often the list is asked for games that are due.
	lookEvery = time.Second
	// soonIn is when a game is looked at whose server should have seen to it
	// itself by then.
	soonIn = 10 * time.Second
	// claimFor is after what time a game is looked at again that was claimed by
	// a server that then said nothing.
	claimFor = 30 * time.Second
	// recordWithin is how long the answer to the last move may wait for its
	// result to be recorded.
	recordWithin = time.Second
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

// Begin notes a game that is about to be created, before it is. Its first entry
// may land as late as its call may last, so it is looked at only after that.
func (s *Steward) Begin(ctx context.Context, gameID string) error {
	return s.agenda.soon(ctx, gameID, claimFor)
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
	return s.agenda.at(ctx, state.ID, s.abandonment(state))
}

// Ended implements match.Agenda: it records the result, so that whoever ended
// the game finds it recorded. Where that fails or takes long, the list brings
// the game up again.
func (s *Steward) Ended(ctx context.Context, final *replay.State) {
	ctx, cancel := context.WithTimeout(ctx, recordWithin)
	defer cancel()
	if err := s.record(ctx, final); err != nil {
		s.Logger.Warn("result not recorded yet", "game", final.ID, "error", err)
	}
}

// abandonment is when the game ends if nobody moves.
func (s *Steward) abandonment(state *replay.State) time.Time {
	return state.UpdateTime.Add(s.AbandonAfter)
}

// record puts a finished game's scores on the leaderboard and the game where
// finished games are, and takes it off the list. Doing it again changes
// nothing.
func (s *Steward) record(ctx context.Context, final *replay.State) error {
	scores := final.Position.Scores()
	for i, seat := range final.Seats {
		if !final.Scored(i) {
			continue
		}
		err := s.Leaderboard.Record(ctx, leaderboard.Result{
			Variant: final.Variant.ID, PlayerID: seat.Player.ID, GameID: final.ID,
			Score: scores[i], Time: final.UpdateTime,
		})
		if err != nil {
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
	if err := s.agenda.remove(ctx, final.ID); err != nil {
		return err
	}
	s.Recorded(final)
	return nil
}

// Run works through the list until ctx ends, and returns when all that it began
// has ended.
func (s *Steward) Run(ctx context.Context, hub *match.Hub) error {
	look, renew := time.NewTicker(lookEvery), time.NewTicker(renewEvery)
	defer look.Stop()
	defer renew.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-look.C:
			s.round(ctx, hub)
		case <-renew.C:
			s.renew(ctx)
		}
	}
}

// round looks at all games that are due.
func (s *Steward) round(ctx context.Context, hub *match.Hub) {
	for ctx.Err() == nil {
		ids, until, err := s.agenda.claim(ctx, batch, claimFor)
		if err != nil {
			s.Logger.Debug("cannot see what is due", "error", err)
			return
		}
		var group sync.WaitGroup
		places := make(chan struct{}, lookers)
		for _, id := range ids {
			places <- struct{}{}
			group.Go(func() {
				defer func() { <-places }()
				s.look(ctx, hub, id, until)
			})
		}
		group.Wait()
		if len(ids) < batch {
			return
		}
	}
}

// look does what is due with a game, and notes what comes next.
func (s *Steward) look(ctx context.Context, hub *match.Hub, gameID string, until time.Time) {
	ctx, cancel := context.WithTimeout(ctx, claimFor/2)
	defer cancel()
	next, err := s.see(ctx, hub, gameID)
	var damaged *gamelog.DamagedError
	switch {
	case errors.As(err, &damaged):
		s.Logger.Error("game damaged", "game", gameID, "version", damaged.Version, "detail", damaged.Detail)
		next, err = until.Add(damagedFor), nil
	case errors.Is(err, gamelog.ErrNotFound):
		// Its server died before the first entry, or it was kept long enough.
		next, err = time.Time{}, nil
	}
	if err == nil {
		err = s.agenda.settle(ctx, gameID, until, next)
	}
	if err != nil {
		s.Logger.Warn("game not seen to; it comes up again", "game", gameID, "error", err)
	}
}

// see does what is due with a game and returns the next moment; zero for none.
func (s *Steward) see(ctx context.Context, hub *match.Hub, gameID string) (time.Time, error) {
	m, err := hub.Acquire(ctx, gameID)
	if err != nil {
		return time.Time{}, err
	}
	defer m.Release()
	state, err := m.Confirm(ctx)
	if err != nil {
		return time.Time{}, err
	}
	if state.Status == replay.Finished {
		return time.Time{}, s.record(ctx, state)
	}
	// Whether it is time is for Redis's clock to say, when it appends.
	end := s.abandonment(state)
	_, err = m.Do(ctx, match.Call{
		Version: state.Version, Seat: game.NoSeat, Action: replay.Abandoned{}, NotBefore: end,
	})
	var conflict *match.VersionConflictError
	switch {
	case err == nil, errors.Is(err, replay.ErrGameOver):
		return time.Time{}, nil
	case errors.Is(err, gamelog.ErrTooEarly):
		return end, s.Directory.Put(ctx, directory.Of(state, m.Watchers()))
	case errors.As(err, &conflict):
		// Somebody moves in it.
		return end, nil
	default:
		return time.Time{}, err
	}
}

// renewEvery is how often games that the boards point to are kept for longer.
const renewEvery = time.Hour

// renew lets the games live on to which all-time boards point, so that every
// score there can be proved, and takes those off the lists that are past. The
// servers all do it, which costs a little and needs no agreement.
func (s *Steward) renew(ctx context.Context) {
	now, err := s.Client.Time(ctx).Result()
	if err != nil {
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
			s.Logger.Warn("games on a board not kept for longer yet", "variant", v.ID, "error", err)
		}
	}
	if err := s.Directory.Trim(ctx, ids); err != nil {
		s.Logger.Warn("lists not trimmed yet", "error", err)
	}
}
