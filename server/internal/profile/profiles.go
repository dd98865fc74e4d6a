package profile

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/gridstand/gridstand/game/replay"
	"github.com/gridstand/gridstand/internal/id"
	"github.com/gridstand/gridstand/server/internal/challenge"
	profilev1 "github.com/gridstand/gridstand/server/internal/profile/v1"
	"github.com/gridstand/gridstand/server/internal/store"
)

// Result is a player's result in a finished game.
type Result struct {
	PlayerID, GameID, Variant string
	Score                     int32
	// Time is the time of the game's last event.
	Time time.Time
	// Won reports whether the player won against others. Counts reports whether the score is one
	// that leaderboards or the standings of a challenge show.
	Won, Counts bool
	// Day is the day of the daily game that the player finished before it closed, or 0.
	Day int32
}

// ResultsOf returns the results in a game that is over. It returns nil for games that do not
// count: private ones, those without a move, and attempts that do not count for their challenge,
// whose results must not be known while others may still attempt it.
func ResultsOf(final *replay.State) []Result {
	if final.Status != replay.Finished || final.Private || final.Position.MoveCount() == 0 {
		return nil
	}
	var results []Result
	scores, daily := final.Position.Scores(), dayOf(final)
	for i, seat := range final.Seats {
		playerID := seat.Player.ID
		seats := final.SeatsOf(playerID)
		if !id.Valid(playerID) || seats[0] != i || final.IsAttempt() && !final.Scored(i) {
			continue
		}
		r := Result{
			PlayerID: playerID, GameID: final.ID, Variant: final.Variant.ID, Score: scores[i], Time: final.UpdateTime,
			Counts: final.Scored(i), Day: daily,
			Won: len(final.Seats) > 1 && len(seats) == 1 && !seat.Absent && slices.Contains(final.Winners(), i),
		}
		for _, other := range seats[1:] {
			r.Score, r.Counts = max(r.Score, scores[other]), r.Counts || final.Scored(other)
		}
		results = append(results, r)
	}
	return results
}

// dayOf returns the day of the daily game that a game is an attempt at, or 0 if it is none or did
// not end on that day.
func dayOf(final *replay.State) int32 {
	today := DayOf(final.UpdateTime)
	if final.Attempt.Kind == replay.Daily && challenge.DailyID(final.Variant.ID, Date(today)) == final.Attempt.ChallengeID {
		return today
	}
	return 0
}

// Profiles manages the profiles in a store. It is safe for concurrent use.
type Profiles struct {
	Store      store.Profiles
	Challenges *challenge.Challenges
}

// Get returns a player's profile, which is empty if the player has finished no game, and the
// store's time.
func (s *Profiles) Get(ctx context.Context, playerID string) (*profilev1.Profile, time.Time, error) {
	p, _, now, err := s.get(ctx, playerID)
	return p, now, err
}

func (s *Profiles) get(ctx context.Context, playerID string) (*profilev1.Profile, int64, time.Time, error) {
	stored, now, err := s.Store.Get(ctx, playerID)
	p := &profilev1.Profile{}
	if err == nil {
		err = proto.Unmarshal(stored.Encoded, p)
	}
	if err != nil {
		err = fmt.Errorf("reading the profile of player %s: %w", playerID, err)
	}
	return p, stored.Revision, now, err
}

// change changes a player's profile, unless do returns false. If the stored profile has changed in
// the meantime, change retries.
func (s *Profiles) change(ctx context.Context, playerID string, do func(p *profilev1.Profile) bool) error {
	for {
		p, revision, _, err := s.get(ctx, playerID)
		if err != nil || !do(p) {
			return err
		}
		encoded, err := proto.Marshal(p)
		if err == nil {
			err = s.Store.Update(ctx, playerID, store.Profile{Revision: revision, Encoded: encoded})
		}
		if err == nil || !errors.Is(err, store.ErrMoved) {
			return err
		}
	}
}

// Record adds a finished game to the profiles of its players and, if it is the last attempt at a race,
// the race. of is what challenge.Challenges.Of returns for the game. Record is idempotent. It ignores games
// that do not count (see ResultsOf), and attempts at private challenges; one that no longer exists may have
// been private.
func (s *Profiles) Record(ctx context.Context, final *replay.State, of *challenge.Challenge) error {
	if final.IsAttempt() && final.Attempt.Kind != replay.Daily && (of == nil || of.Private) {
		return nil
	}
	for _, r := range ResultsOf(final) {
		if err := s.change(ctx, r.PlayerID, func(p *profilev1.Profile) bool { return add(p, r) }); err != nil {
			return err
		}
	}
	if final.Attempt.Kind == replay.Race {
		return s.recordRace(ctx, of)
	}
	return nil
}
