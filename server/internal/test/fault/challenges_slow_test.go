//go:build slow

package fault

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/gridstand/gridstand/client"
	"github.com/gridstand/gridstand/internal/id"
	waittest "github.com/gridstand/gridstand/internal/testkit/wait"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
	"github.com/gridstand/gridstand/server/internal/challenge"
)

// racer is an entrant who sends moves from before a race opens until after it has closed.
type racer struct {
	*caller
	gameID string
	rng    *rand.Rand
	pace   time.Duration // time between calls

	ended       time.Time // when the first response arrived that says that the race is over
	moves, late int       // accepted moves, and calls refused after the race
}

// try sends a move once. If the move is not accepted, try returns the reason: "early", "over",
// "illegal" or "unavailable".
func (r *racer) try(ctx context.Context, version int32, d pb.Direction) (*pb.Event, string, error) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	moved, err := r.games.Move(r.authorized(ctx), slide(r.gameID, version, d))
	switch reason := refusalOf(err).reason; {
	case err == nil:
		return moved.GetEvent(), "", r.env.observed.event(moved.GetEvent())
	case reason == pb.ReasonGameNotStarted:
		return nil, "early", nil
	case reason == pb.ReasonGameOver:
		if r.late++; r.late == 1 {
			r.ended = time.Now()
		}
		return nil, "over", nil
	case reason == pb.ReasonIllegalMove:
		return nil, "illegal", nil
	case unavailable(err), brokenOff(err), status.Code(err) == codes.Canceled:
		return nil, "unavailable", nil
	}
	return nil, "", fmt.Errorf("at version %d: %w", version, checkError(err))
}

// run sends moves until a move ends the game, the time that until returns has passed, or ctx is
// done. Even after a move is refused because the race is over, it continues, to check that no
// later move is accepted.
func (r *racer) run(ctx context.Context, until func() time.Time) error {
	version, over := int32(1), false
	order := []pb.Direction{pb.Direction_DIRECTION_LEFT, pb.Direction_DIRECTION_DOWN, pb.Direction_DIRECTION_RIGHT, pb.Direction_DIRECTION_UP}
	next := order[0]
	for ctx.Err() == nil && time.Now().Before(until()) {
		e, problem, err := r.try(ctx, version, next)
		switch {
		case err != nil:
			return err
		case e != nil:
			if over {
				return fmt.Errorf("a move was accepted after the game was over: %s", brief(e))
			}
			r.moves++
			version = e.GetVersion()
			if e.GetResult() != nil {
				return nil
			}
			next = random(r.rng, e.GetPosition())
		case problem == "illegal" && version == 1: // the first board is unknown
			next = order[slices.Index(order, next)+1]
		case problem == "illegal":
			return fmt.Errorf("%v at version %d is illegal", next, version)
		case problem == "over":
			over = true
		}
		select {
		case <-time.After(r.pace):
		case <-ctx.Done():
		}
	}
	return ctx.Err()
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
// refused as too late, and the seed is not revealed. The race's streams resume, and all end with the
// same final standings.
func TestRace_ServerKilled(t *testing.T) {
	t.Parallel()
	ctx, env := t.Context(), newSQLiteEnv(t)
	server := env.startCrew(1)[0]
	racers := make([]*racer, 3)
	for i := range racers {
		racers[i] = &racer{caller: env.player(server), rng: seeded(t), pace: 20 * time.Millisecond}
	}
	race := racers[0].newRace(t)
	for _, r := range racers {
		_, err := answered(ctx, r.caller, r.challenges.JoinChallenge, &pb.JoinChallengeRequest{ChallengeId: race.GetId()})
		require.NoError(t, err)
		r.gameID = challenge.AttemptID(race.GetId(), r.id)
		env.observed.attempt(r.gameID)
	}
	creator := racers[0].caller
	started, err := answered(ctx, creator, creator.challenges.StartChallenge, &pb.StartChallengeRequest{ChallengeId: race.GetId()})
	require.NoError(t, err)
	open, closes := started.GetChallenge().GetOpenTime().AsTime(), started.GetChallenge().GetCloseTime().AsTime()

	ended, over := context.WithCancel(ctx)
	defer over()
	stopped := make(chan error, len(racers))
	for _, r := range racers {
		go func() { stopped <- r.run(ended, func() time.Time { return open.Add(time.Hour) }) }()
	}
	var following errgroup.Group
	followers := make([]*follower, 3)
	for i := range followers {
		followers[i] = &follower{}
		reader, err := client.Dial(client.Config{Target: server.addr})
		require.NoError(t, err)
		t.Cleanup(func() { assert.NoError(t, reader.Close()) })
		following.Go(func() error { return followers[i].watch(ctx, reader, race.GetId()) })
	}
	<-time.After(time.Until(open.Add(time.Second)))
	server.stop()
	killed := time.Now()
	<-time.After(5 * time.Second) // longer than the shortest outage that is credited
	restarting := time.Now()
	server.restart()
	closed := racers[0].awaitSeed(ctx, t, race.GetId())
	for _, r := range racers {
		r.awaitFinished(t, r.gameID)
	}
	over()
	for range racers {
		if err := <-stopped; ended.Err() == nil {
			require.NoError(t, err)
		}
	}
	credited := closed.GetCredited().AsDuration()
	assert.Equal(t, open, closed.GetOpenTime().AsTime())
	assert.Equal(t, closes.Add(credited), closed.GetCloseTime().AsTime())
	assert.GreaterOrEqual(t, credited, restarting.Sub(killed), "the credited time")
	for _, r := range racers {
		assert.Positive(t, r.moves)
		if r.late > 0 {
			assert.False(t, r.ended.Before(closed.GetCloseTime().AsTime()), "a move was refused before the race closed")
		}
	}
	require.NoError(t, following.Wait())
	for _, f := range followers {
		assert.Positive(t, f.resumed)
		assert.Equal(t, followers[0].etag, f.etag)
		assert.Len(t, f.last.GetChallenge().GetSeed(), 32)
		require.Len(t, f.last.GetStandings(), len(racers))
	}
	env.checkRace(t, racers[0].caller, closed)
	t.Logf("credited %v; %d, %d and %d moves", credited, racers[0].moves, racers[1].moves, racers[2].moves)
}

// attempt marks a game as an attempt at a challenge. This is needed only if the first thing that
// a client may observe of the game is its last event.
func (o *observations) attempt(gameID string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.attempts[gameID] = true
}
