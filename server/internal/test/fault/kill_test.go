package fault

import (
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"
	"google.golang.org/protobuf/proto"

	"github.com/gridstand/gridstand/client"
	"github.com/gridstand/gridstand/internal/testkit/longtest"
	redistest "github.com/gridstand/gridstand/internal/testkit/redis"
)

const (
	movers     = 40
	kills      = 3
	movesAlive = 400 // calls acknowledged by a server before it is killed
)

// Ensure that no acknowledged call is lost when a server is killed in the middle of many games,
// that in-flight calls take effect at most once, and that all results are eventually recorded.
func TestServer_Killed_long(t *testing.T) {
	longtest.Skip(t)
	t.Parallel()
	redis := redistest.StartRedis(t, redistest.KeepsWrites...)
	env := newEnv(t, redis.Addr())
	severed := killAtTheEnd(t, env)

	f := newFailover(env.serveProcess())
	all, group, ctx := f.startMovers(t, env, movers, 4)
	lived := watchThroughKills(ctx, t, env, f, group)

	for range kills {
		f.awaitAcks(t, movesAlive)
		f.current().stop()
		f.awaitWaiting(t, movers+1)
		for _, m := range all {
			m.checkLog(t, env)
		}
		f.replace(env.serveProcess())
	}
	f.awaitAcks(t, movesAlive/2)
	f.stop()
	require.NoError(t, group.Wait())
	assert.True(t, *lived)

	// Repeat the resignation that the first server did not answer: another server must return
	// the event that is already in the log.
	c := severed.player.on(f.current())
	again, err := c.resign(t.Context(), severed.gameID)
	require.NoError(t, err)
	assert.Equal(t, severed.version+1, again.GetVersion())
}

// killedAtTheEnd is a game whose server was killed between the last event and the recording of
// the result.
type killedAtTheEnd struct {
	player  *caller
	gameID  string
	version int32 // before the last event
}

// killAtTheEnd ends a game and kills its server before the server can do anything else.
func killAtTheEnd(t *testing.T, env *env) killedAtTheEnd {
	t.Helper()
	proxy := redistest.StartProxy(t, env.addr)
	doomed := env.serveProcess(via(proxy.Addr()))
	c := env.player(doomed)
	game := c.start(t, "classic")
	rng := seeded(t)
	last := c.playTo(t, rng, game, 12)
	require.Positive(t, last.GetPosition().GetScores()[0])

	lost := proxy.Sever(appending(game.GetId(), env.last(t, game.GetId())))
	failed := make(chan error, 1)
	go func() {
		ctx, cancel := context.WithTimeout(t.Context(), patience) // so that the client does not repeat the call
		defer cancel()
		_, err := c.resign(ctx, game.GetId())
		failed <- err
	}()
	<-lost
	doomed.stop()
	require.True(t, unavailable(<-failed))

	require.EqualValues(t, last.GetVersion()+1, env.length(t, game.GetId()))
	assert.Zero(t, env.redis.Exists(t.Context(), "scores:{classic:all}").Val(), "the result is already recorded")
	assert.Contains(t, env.scheduled(t.Context(), t, 10*time.Second), game.GetId())
	return killedAtTheEnd{c, game.GetId(), last.GetVersion()}
}

// watchThroughKills adds a player with one long game, and a watcher that reconnects to another
// server when its own is killed. The returned bool becomes true when the watcher has seen the
// whole game.
func watchThroughKills(ctx context.Context, t *testing.T, env *env, f *failover, group *errgroup.Group) *bool {
	t.Helper()
	spare := env.serve()
	m := newMover(env.player(f.current()), f)
	game := m.client(f.current()).start(t, "6x6")
	seen := new(bool)
	watcher, err := client.Dial(client.Config{Target: f.current().addr + "," + spare.addr})
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, watcher.Close()) })
	group.Go(func() error { return m.play(ctx, rand.New(rand.NewPCG(movers, 4)), game, 0) })
	group.Go(func() error {
		updates := watcher.Watch(ctx, client.WatchOptions{GameID: game.GetId(), AfterVersion: proto.Int32(0), EveryEvent: true})
		defer updates.Close()
		for version := int32(0); ; {
			update, err := updates.Next()
			switch {
			case errors.Is(err, io.EOF):
				*seen = version > 1
				return nil
			case err != nil:
				return err
			case update.Event != nil:
				if version++; update.Event.GetVersion() != version {
					return errors.New("the watcher received a version out of order")
				}
				if err := env.observed.event(update.Event); err != nil {
					return err
				}
			}
		}
	})
	return seen
}

// checkLog compares the log of a mover's game with what the mover knows: the log must have every
// acknowledged event, and at most one more, for which the mover is still waiting.
func (m *mover) checkLog(t *testing.T, env *env) {
	t.Helper()
	if m.acked == 0 {
		return // a new game is being created
	}
	n := env.length(t, m.gameID)
	require.GreaterOrEqual(t, n, int64(m.acked), "an acknowledged event is lost")
	require.LessOrEqual(t, n, int64(m.acked)+1, "the log has more than the in-flight call")
}
