//go:build slow

package fault

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/gridstand/gridstand/internal/id"
	playertest "github.com/gridstand/gridstand/internal/testkit/player"
	waittest "github.com/gridstand/gridstand/internal/testkit/wait"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
	"github.com/gridstand/gridstand/server/internal/challenge"
)

// racer is an entrant of a race.
type racer struct {
	*caller
	gameID string
	moves  int
	ended  time.Time // when the first response arrived that says that the race is over
}

// run sends moves until the race is over.
func (r *racer) run(ctx context.Context) error {
	game, err := r.get(ctx, r.gameID)
	for err == nil {
		if _, err = r.move(ctx, game, playertest.Lasting(game.GetVersion(), game.GetPosition())); err == nil {
			r.moves++
			pause(ctx, 20*time.Millisecond)
		}
	}
	r.ended = time.Now()
	if refusalOf(err).Reason == pb.ReasonGameOver {
		return nil
	}
	return err
}

// newRace creates a ten-second race with the caller as its first entrant.
func (c *caller) newRace(t *testing.T) *pb.Challenge {
	t.Helper()
	request := &pb.CreateChallengeRequest{
		Kind: pb.ChallengeKind_CHALLENGE_KIND_RACE, Variant: "6x6", Limit: durationpb.New(10 * time.Second), RequestId: id.New(),
	}
	created, err := answered(t.Context(), c, c.challenges.CreateChallenge, request)
	require.NoError(t, err)
	return created.GetChallenge()
}

// Ensure that a race and a game with a clock continue if their only server is dead for a while. The race is
// postponed by at least the time lost, for all entrants alike: until the new close time no move is refused
// as too late, and the seed is not revealed. The clock gets a full turn, once.
func TestOutage(t *testing.T) {
	t.Parallel()
	ctx, env := t.Context(), newSQLiteEnv(t)
	server := env.startCrew(1)[0]
	creator := env.player(server)
	race := creator.newRace(t)
	racers := []*racer{{caller: creator}, {caller: env.player(server)}}
	for _, r := range racers {
		_, err := answered(ctx, r.caller, r.challenges.JoinChallenge, &pb.JoinChallengeRequest{ChallengeId: race.GetId()})
		require.NoError(t, err)
		r.gameID = challenge.AttemptID(race.GetId(), r.id)
	}
	players := []*caller{env.player(server), env.player(server), env.player(server)}
	start := &pb.StartChallengeRequest{ChallengeId: race.GetId()}
	started, err := answered(ctx, creator, creator.challenges.StartChallenge, start)
	require.NoError(t, err)
	open, closes := started.GetChallenge().GetOpenTime().AsTime(), started.GetChallenge().GetCloseTime().AsTime()

	<-time.After(time.Until(open))
	var group errgroup.Group
	for _, r := range racers {
		group.Go(func() error { return r.run(ctx) })
	}
	const turn = 10 * time.Second
	game, err := players[0].create(ctx, &pb.CreateGameRequest{
		Variant: "tribolo", Seats: []*pb.SeatRequest{callerSeat, openSeat, openSeat}, TurnLimit: durationpb.New(turn), RequestId: id.New(),
	})
	require.NoError(t, err)
	for _, each := range players[1:] {
		_, err := each.join(ctx, game.GetId())
		require.NoError(t, err)
	}
	// read returns the events that are in a game's log.
	read := func(gameID string) []*pb.Event {
		t.Helper()
		events, err := creator.transcript(ctx, gameID, int32(env.length(t, gameID)))
		require.NoError(t, err)
		return events
	}
	credits := func() []*pb.Event {
		return slices.DeleteFunc(read(game.GetId()), func(e *pb.Event) bool { return e.GetClockExtended() == nil })
	}
	<-time.After(time.Second)
	server.stop()
	killed := time.Now()
	<-time.After(5 * time.Second) // longer than the shortest outage that is credited
	restarting := time.Now()
	server.restart()

	var closed *pb.Challenge
	waittest.Until(t, "the challenge reveals its seed", func() bool {
		request := &pb.GetChallengeRequest{ChallengeId: race.GetId()}
		got, err := answered(ctx, creator, creator.challenges.GetChallenge, request)
		require.NoError(t, err)
		closed = got.GetChallenge()
		return len(closed.GetSeed()) > 0
	})
	require.NoError(t, group.Wait())
	credited := closed.GetCredited().AsDuration()
	assert.Equal(t, open, closed.GetOpenTime().AsTime())
	assert.Equal(t, closes.Add(credited), closed.GetCloseTime().AsTime())
	assert.GreaterOrEqual(t, credited, restarting.Sub(killed), "the credited time")
	for _, r := range racers {
		waittest.Until(t, "the game is over", func() bool {
			over, err := r.get(ctx, r.gameID)
			require.NoError(t, err)
			return over.GetStatus() == pb.GameStatus_GAME_STATUS_FINISHED
		})
		assert.Positive(t, r.moves)
		assert.False(t, r.ended.Before(closed.GetCloseTime().AsTime()), "a move was refused before the race closed")
		for _, e := range read(r.gameID) {
			if e.GetMoved() != nil {
				at := e.GetTime().AsTime()
				assert.False(t, at.Before(open), "an event before the race opened: %v", e)
				assert.True(t, at.Before(closed.GetCloseTime().AsTime()), "an event after the race closed: %v", e)
			}
		}
	}

	waittest.Until(t, "the clock is credited", func() bool { return len(credits()) > 0 })
	assert.False(t, credits()[0].GetPosition().GetTurnDeadline().AsTime().Before(restarting.Add(turn)), "less than a full turn")
	for _, each := range players[:2] {
		_, err := answered(ctx, each, each.games.Resign, &pb.ResignRequest{GameId: game.GetId()})
		require.NoError(t, err)
	}
	assert.Len(t, credits(), 1, "the clock is credited once")
}
