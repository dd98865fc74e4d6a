//go:build slow

package fault

import (
	"context"
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
	for version, position := game.GetVersion(), game.GetPosition(); err == nil; {
		var event *pb.Event
		if event, err = r.move(ctx, r.gameID, version, playertest.Lasting(version, position)); err != nil {
			break
		}
		r.moves++
		version, position = event.GetVersion(), event.GetPosition()
		pause(ctx, 20*time.Millisecond)
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

// awaitFinished waits until a game is over.
func (c *caller) awaitFinished(t *testing.T, gameID string) {
	t.Helper()
	waittest.Until(t, "the game is over", func() bool {
		over, err := c.get(t.Context(), gameID)
		require.NoError(t, err)
		return over.GetStatus() == pb.GameStatus_GAME_STATUS_FINISHED
	})
}

// awaitSeed waits until a challenge is closed and its seed is revealed.
func (c *caller) awaitSeed(ctx context.Context, t *testing.T, id string) (closed *pb.Challenge) {
	t.Helper()
	waittest.Until(t, "the challenge reveals its seed", func() bool {
		got, err := answered(ctx, c, c.challenges.GetChallenge, &pb.GetChallengeRequest{ChallengeId: id})
		require.NoError(t, err)
		closed = got.GetChallenge()
		return len(closed.GetSeed()) > 0
	})
	return closed
}

// checkRace requires that every entrant of a closed race has a game, in which they moved only while
// the race was open. reader may be a client of any server.
func (env *env) checkRace(t *testing.T, reader *caller, race *pb.Challenge) {
	t.Helper()
	for _, entrant := range race.GetEntrants() {
		log := env.log(t.Context(), t, entrant.GetGameId())
		require.NotEmpty(t, log, "an entrant without a game")
		events, err := reader.transcript(t.Context(), entrant.GetGameId(), int32(len(log)))
		require.NoError(t, err)
		for _, e := range events {
			if e.GetMoved() != nil {
				assert.False(t, e.GetTime().AsTime().Before(race.GetOpenTime().AsTime()), "an event before the race opened: %s", brief(e))
				assert.True(t, e.GetTime().AsTime().Before(race.GetCloseTime().AsTime()), "an event after the race closed: %s", brief(e))
			}
		}
	}
}

// Ensure that a race continues if its only server is dead for a while. The close time is postponed
// by at least the time lost, for all entrants alike. Before the postponed close time, no move is
// refused as too late, and the seed is not revealed.
func TestRace_ServerKilled(t *testing.T) {
	t.Parallel()
	ctx, env := t.Context(), newSQLiteEnv(t)
	server := env.startCrew(1)[0]
	creator := env.player(server)
	race := creator.newRace(t)
	racers := []*racer{{caller: creator}, {caller: env.player(server)}, {caller: env.player(server)}}
	for _, r := range racers {
		_, err := answered(ctx, r.caller, r.challenges.JoinChallenge, &pb.JoinChallengeRequest{ChallengeId: race.GetId()})
		require.NoError(t, err)
		r.gameID = challenge.AttemptID(race.GetId(), r.id)
	}
	started, err := answered(ctx, creator, creator.challenges.StartChallenge, &pb.StartChallengeRequest{ChallengeId: race.GetId()})
	require.NoError(t, err)
	open, closes := started.GetChallenge().GetOpenTime().AsTime(), started.GetChallenge().GetCloseTime().AsTime()

	<-time.After(time.Until(open))
	var group errgroup.Group
	for _, r := range racers {
		group.Go(func() error { return r.run(ctx) })
	}
	<-time.After(time.Second)
	server.stop()
	killed := time.Now()
	<-time.After(5 * time.Second) // longer than the shortest outage that is credited
	restarting := time.Now()
	server.restart()
	closed := creator.awaitSeed(ctx, t, race.GetId())
	require.NoError(t, group.Wait())
	credited := closed.GetCredited().AsDuration()
	assert.Equal(t, open, closed.GetOpenTime().AsTime())
	assert.Equal(t, closes.Add(credited), closed.GetCloseTime().AsTime())
	assert.GreaterOrEqual(t, credited, restarting.Sub(killed), "the credited time")
	for _, r := range racers {
		r.awaitFinished(t, r.gameID)
		assert.Positive(t, r.moves)
		assert.False(t, r.ended.Before(closed.GetCloseTime().AsTime()), "a move was refused before the race closed")
	}
	env.checkRace(t, creator, closed)
	t.Logf("credited %v; %d, %d and %d moves", credited, racers[0].moves, racers[1].moves, racers[2].moves)
}
