//go:build slow

package fault

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

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
	event := here.playTo(t, game, 10)
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
	event := o.there.playTo(t, o.game, o.version+10)
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

// Ensure that calls made while Redis does not answer are refused in time, that repeating them
// afterward returns their outcome, and that watchers survive the outage.
func TestRedis_Outage(t *testing.T) {
	t.Parallel()
	for name, fails := range map[string]struct{ begin, end func(*redistest.Server) }{
		"paused": {(*redistest.Server).Pause, (*redistest.Server).Resume},
		"killed": {(*redistest.Server).Kill, (*redistest.Server).Restart},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			redis := redistest.StartRedis(t, redistest.KeepsWrites...)
			o := startOutage(t, newEnv(t, redis.Addr()))
			t.Cleanup(redis.Resume)
			for range 2 {
				fails.begin(redis)
				direction := o.requireUnavailable(t)
				fails.end(redis)
				o.requireRecovered(t, direction)
			}
			o.finish(t)
		})
	}
}

// servePair starts two servers in this process. If the store allows only one, both results are
// the same server.
func (env *env) servePair() (first, second *testServer) {
	env.t.Helper()
	first = env.serve()
	if env.redis == nil {
		return first, first
	}
	return first, env.serve()
}

// playScored plays a game, resigns it with a score above 0, and returns its ID and score.
func (c *caller) playScored(t *testing.T) (gameID string, score int32) {
	t.Helper()
	game := c.start(t, "classic")
	last := c.playTo(t, game, 20)
	_, err := c.resign(t.Context(), game.GetId())
	require.NoError(t, err)
	score = last.GetPosition().GetScores()[0]
	require.Positive(t, score)
	return game.GetId(), score
}

// requireAttached requires that the stream is still open.
func (w *watcher) requireAttached(t *testing.T) {
	t.Helper()
	select {
	case <-w.done:
		require.Failf(t, "a watcher's stream has ended", "of %s: %v", w.gameID, w.err)
	default:
	}
}
