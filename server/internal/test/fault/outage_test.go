package fault

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/gridstand/gridstand/internal/testkit/longtest"
	redistest "github.com/gridstand/gridstand/internal/testkit/redis"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// outage is a game that continues through a Redis outage, with players and watchers on two servers.
type outage struct {
	env      *env
	here     *caller
	there    *caller
	game     *pb.Game
	watchers []*watcher
	version  int32
	position *pb.Position
	// calm is how long the first ten moves took together.
	calm time.Duration
}

func startOutage(t *testing.T, env *env) *outage {
	t.Helper()
	first, second := env.servePair()
	return startOutageOn(t, env, first, second)
}

func startOutageOn(t *testing.T, env *env, first, second *testServer) *outage {
	t.Helper()
	here := env.player(first)
	there := here.on(second)
	game := here.start(t, "6x6")
	o := &outage{env: env, here: here, there: there, game: game}
	for _, c := range []*caller{here, there} {
		o.watchers = append(o.watchers, env.anonymous(c.server).watch(t, game.GetId(), watching{}))
	}
	began := time.Now()
	event := here.playTo(t, seeded(t), game, 10)
	o.calm = time.Since(began)
	o.version, o.position = event.GetVersion(), event.GetPosition()
	o.awaitSeen(t)
	return o
}

func (o *outage) awaitSeen(t *testing.T) {
	t.Helper()
	for _, each := range o.watchers {
		each.awaitVersion(t, o.version)
	}
}

// requireUnavailable requires that calls that need Redis are refused with a retry hint, that
// other calls are answered, and that watchers stay connected. It returns the move that it tried.
func (o *outage) requireUnavailable(t *testing.T) pb.Direction {
	t.Helper()
	direction := o.position.GetTwenty48().GetLegalMoves()[0]
	for _, c := range []*caller{o.here, o.there} {
		wantUnavailable(t, func(ctx context.Context) error {
			_, err := c.move(ctx, o.game.GetId(), o.version, direction)
			return err
		})
		wantUnavailable(t, func(ctx context.Context) error {
			_, err := c.get(ctx, o.game.GetId())
			return err
		})
		wantUnavailable(t, func(ctx context.Context) error {
			_, err := c.leaderboard.ListScores(ctx, &pb.ListScoresRequest{Variant: "classic"})
			return checkError(err)
		})
		_, err := c.games.ListVariants(t.Context(), &pb.ListVariantsRequest{})
		require.NoError(t, err)
	}
	for _, each := range o.watchers {
		each.requireAttached(t)
	}
	return direction
}

// requireRecovered requires that repeating the call from the outage returns its event, that the
// log has the event once, and that the game continues for the same watchers.
func (o *outage) requireRecovered(t *testing.T, direction pb.Direction) {
	t.Helper()
	var events []*pb.Event
	for _, c := range []*caller{o.there, o.here} {
		events = append(events, resend(t, c, o.game.GetId(), o.version, direction))
	}
	requireSame(t, events[0], events[1])
	o.version++
	assert.EqualValues(t, o.version, o.env.length(t, o.game.GetId()))
	o.awaitSeen(t)
	o.game.Version, o.game.Position = o.version, events[0].GetPosition()
	event := o.there.playTo(t, seeded(t), o.game, o.version+10)
	o.version, o.position = event.GetVersion(), event.GetPosition()
	o.awaitSeen(t)
}

// finish ends the game and requires that the watchers see its end.
func (o *outage) finish(t *testing.T) {
	t.Helper()
	_, err := o.here.resign(t.Context(), o.game.GetId())
	require.NoError(t, err)
	for _, each := range o.watchers {
		require.NoError(t, each.awaitEnd(t))
		assert.Zero(t, each.covered())
	}
}

// Ensure that calls made while Redis is paused are refused in time, and that repeating them
// afterward returns their outcome.
func TestRedis_Paused_long(t *testing.T) {
	longtest.Skip(t)
	t.Parallel()
	redis := redistest.StartRedis(t)
	env := newEnv(t, redis.Addr())
	o := startOutage(t, env)
	redis.Pause()
	t.Cleanup(redis.Resume)
	direction := o.requireUnavailable(t)
	redis.Resume()
	o.requireRecovered(t, direction)
	o.finish(t)
}

// Ensure that servers and their watchers survive a Redis restart.
func TestRedis_Restarted_long(t *testing.T) {
	longtest.Skip(t)
	t.Parallel()
	redis := redistest.StartRedis(t, redistest.KeepsWrites...)
	env := newEnv(t, redis.Addr())
	o := startOutage(t, env)
	for range 2 {
		redis.Kill()
		direction := o.requireUnavailable(t)
		redis.Restart()
		o.requireRecovered(t, direction)
	}
	o.finish(t)
}

// Ensure that no acknowledged move is lost if Redis is killed while players are making moves. Redis
// writes to its append-only file before it replies.
func TestRedis_Killed(t *testing.T) {
	t.Parallel()
	redis := redistest.StartRedis(t, redistest.KeepsWrites...)
	env := newEnv(t, redis.Addr())
	moveThrough(t, env, env.addr, 50, func(context.Context) error {
		redis.Restart()
		return nil
	})
}

// Ensure that a player who sends a second move when the first was not answered gets the event of
// one of them, and that the first move has no effect if the second succeeds.
func TestRedisPaused_ChangedMind(t *testing.T) {
	t.Parallel()
	redis := redistest.StartRedis(t)
	env := newEnv(t, redis.Addr())
	here := env.player(env.serve())
	there := here.on(env.serve())
	rng := seeded(t)
	games := make([]*pb.Game, 8)
	for i := range games {
		games[i] = here.start(t, "5x5")
		last := there.playToChoice(t, rng, games[i], 6)
		games[i].Version, games[i].Position = last.GetVersion(), last.GetPosition()
	}
	redis.Pause()
	t.Cleanup(redis.Resume)
	var group errgroup.Group
	for _, game := range games {
		group.Go(func() error {
			ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
			defer cancel()
			_, err := here.move(ctx, game.GetId(), game.GetVersion(), game.GetPosition().GetTwenty48().GetLegalMoves()[0])
			if err == nil {
				return errors.New("a move was acknowledged while Redis was paused")
			}
			return nil
		})
	}
	require.NoError(t, group.Wait())
	redis.Resume()
	for i, game := range games {
		first, second := game.GetPosition().GetTwenty48().GetLegalMoves()[0], game.GetPosition().GetTwenty48().GetLegalMoves()[1]
		c := []*caller{here, there}[i%2]
		event, err := c.move(t.Context(), game.GetId(), game.GetVersion(), second)
		if err != nil {
			require.Equal(t, pb.ReasonVersionConflict, refusalOf(err).reason)
			event = resend(t, c, game.GetId(), game.GetVersion(), first)
		}
		game.Version, game.Position = event.GetVersion(), event.GetPosition()
		here.playTo(t, rng, game, game.GetVersion()+3)
	}
}
