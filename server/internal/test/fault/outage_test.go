package fault

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	redistest "github.com/gridstand/gridstand/internal/testkit/redis"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// outage is games that go on while Redis stands still: each player has a call
// under way then.
type outage struct {
	w        *world
	here     *caller
	there    *caller
	game     *pb.Game
	watchers []*watcher
	version  int32
	position *pb.Position
}

func startOutage(t *testing.T, w *world) *outage {
	t.Helper()
	here := w.player(w.serve(w.addr))
	there := here.on(w.serve(w.addr))
	game := here.start(t, "6x6")
	o := &outage{w: w, here: here, there: there, game: game}
	for _, c := range []*caller{here, there} {
		o.watchers = append(o.watchers, w.anybody(c.server).watch(t, game.GetId(), watching{}))
	}
	event := here.playTo(t, seeded(t), game, 10)
	o.version, o.position = event.GetVersion(), event.GetPosition()
	o.seen(t)
	return o
}

func (o *outage) seen(t *testing.T) {
	t.Helper()
	for _, each := range o.watchers {
		each.sees(t, o.version)
	}
}

// stands requires that whatever needs Redis is refused with a hint, that what
// does not is answered, and that nobody who watches is sent away. It returns
// the move that was tried.
func (o *outage) stands(t *testing.T) pb.Direction {
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
		assert.True(t, each.attached(), "%v", each.err)
	}
	return direction
}

// goesOn requires that the same call as during the outage gets its event, which
// is in the log once, and that the game goes on in front of the same watchers.
func (o *outage) goesOn(t *testing.T, direction pb.Direction) {
	t.Helper()
	var events []*pb.Event
	for _, c := range []*caller{o.there, o.here} {
		events = append(events, again(t, c, o.game.GetId(), o.version, direction))
	}
	requireSame(t, events[0], events[1])
	o.version++
	assert.EqualValues(t, o.version, o.w.length(t, o.game.GetId()))
	o.seen(t)
	o.game.Version, o.game.Position = o.version, events[0].GetPosition()
	event := o.there.playTo(t, seeded(t), o.game, o.version+10)
	o.version, o.position = event.GetVersion(), event.GetPosition()
	o.seen(t)
}

// end ends the game, to the watchers' knowledge.
func (o *outage) end(t *testing.T) {
	t.Helper()
	require.NoError(t, retry(t.Context(), func(ctx context.Context) error {
		_, err := o.here.resign(ctx, o.game.GetId())
		return err
	}))
	for _, each := range o.watchers {
		require.NoError(t, each.ends(t))
		assert.Zero(t, each.covered())
	}
}

// Ensure that calls during which Redis stands still say so in time, and that
// sending them again afterwards tells what became of them.
func TestRedisPaused(t *testing.T) {
	t.Parallel()
	redis := redistest.StartRedis(t)
	w := newWorld(t, redis.Addr())
	o := startOutage(t, w)
	redis.Pause()
	t.Cleanup(redis.Resume)
	direction := o.stands(t)
	redis.Resume()
	o.goesOn(t, direction)
	o.end(t)
}

// Ensure that servers and those who watch live through a Redis that ends and
// comes back.
func TestRedisRestarted(t *testing.T) {
	t.Parallel()
	redis := redistest.StartRedis(t, "--appendonly", "yes", "--appendfsync", "always")
	w := newWorld(t, redis.Addr())
	o := startOutage(t, w)
	for range 2 {
		redis.Kill()
		direction := o.stands(t)
		redis.Restart()
		o.goesOn(t, direction)
	}
	o.end(t)
}

// Ensure that Redis can be killed while people move: with an append-only file
// that is written before it answers, nothing that they were told is lost.
func TestRedisKilled(t *testing.T) {
	t.Parallel()
	redis := redistest.StartRedis(t, "--appendonly", "yes", "--appendfsync", "always")
	w := newWorld(t, redis.Addr())
	moveThrough(t, w, w.addr, 50, func(context.Context) error {
		redis.Restart()
		return nil
	})
}

// Ensure that a player who thinks better of a move that was not answered gets
// either that one's event, through the other's refusal, or the other's, and that
// nothing comes of the first then.
func TestRedisPaused_changedMind(t *testing.T) {
	t.Parallel()
	redis := redistest.StartRedis(t)
	w := newWorld(t, redis.Addr())
	here := w.player(w.serve(w.addr))
	there := here.on(w.serve(w.addr))
	rng := seeded(t)
	games := make([]*pb.Game, 8)
	for i := range games {
		games[i] = here.start(t, "5x5")
		last := there.playTo(t, rng, games[i], 6)
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
				return errors.New("a move was acknowledged by nobody")
			}
			return nil
		})
	}
	require.NoError(t, group.Wait())
	redis.Resume()
	for i, game := range games {
		first, second := game.GetPosition().GetTwenty48().GetLegalMoves()[0], game.GetPosition().GetTwenty48().GetLegalMoves()[1]
		c := []*caller{here, there}[i%2]
		var event *pb.Event
		err := retry(t.Context(), func(ctx context.Context) (err error) {
			event, err = c.move(ctx, game.GetId(), game.GetVersion(), second)
			return err
		})
		if err != nil {
			require.Equal(t, pb.ReasonVersionConflict, refusalOf(err).reason)
			event = again(t, c, game.GetId(), game.GetVersion(), first)
		}
		game.Version, game.Position = event.GetVersion(), event.GetPosition()
		here.playTo(t, rng, game, game.GetVersion()+3)
	}
}
