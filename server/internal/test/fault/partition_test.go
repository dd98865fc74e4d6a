package fault

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	redistest "github.com/gridstand/gridstand/internal/testkit/redis"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// Ensure that a server whose connection to Redis is half-open, so that it misses what other
// servers append, sends no outdated game to any watcher, whether the watcher is new or resumes
// after some version. Watchers that stay connected receive the rest once the server is connected
// again.
func TestWatch_Partition(t *testing.T) {
	t.Parallel()
	onRedis(t, func(t *testing.T, env *env) {
		const before, after = 10, 90 // there are more events in between than a server keeps in memory
		proxy := redistest.StartProxy(t, env.addr)
		cutOff, other := env.serveVia(proxy.Addr()), env.serve()
		player := env.player(other)
		game := player.start(t, "6x6")
		there := env.anonymous(cutOff)
		watchers := there.watchEachWay(t, game.GetId())
		rng := seeded(t)
		last := player.playTo(t, rng, game, before)
		for _, each := range watchers {
			each.awaitVersion(t, before)
		}

		release := proxy.Hold()
		game.Version, game.Position = last.GetVersion(), last.GetPosition()
		last = player.playTo(t, rng, game, after)
		for name, from := range map[string]*int32{
			"from the game on": nil, "from the start": fromStart(), "from a known version": proto.Int32(before),
			"from an unknown version": proto.Int32(after),
		} {
			ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
			var message *pb.WatchResponse
			stream, err := there.games.Watch(ctx, &pb.WatchRequest{GameId: game.GetId(), AfterVersion: from})
			if err == nil { // On a busy machine, the time may be over before the stream is open.
				message, err = stream.Recv()
			}
			cancel()
			assert.Error(t, err, "%s: the watcher received %v", name, message)
			assert.NotEqual(t, pb.ReasonVersionConflict, refusalOf(err).reason, name)
		}
		for name, each := range watchers {
			if name != "resuming" { // the resuming watcher may be between two streams
				each.requireAttached(t)
			}
			assert.EqualValues(t, before, each.version(), name)
		}

		release()
		watchers["reconnecting"] = there.watch(t, game.GetId(), watching{after: proto.Int32(after)})
		watchers["new"] = there.watch(t, game.GetId(), watching{})
		game.Version, game.Position = last.GetVersion(), last.GetPosition()
		player.playTo(t, rng, game, after+10)
		_, err := player.resign(t.Context(), game.GetId())
		require.NoError(t, err)
		for name, each := range watchers {
			require.NoError(t, each.awaitEnd(t), name)
			assert.EqualValues(t, after+11, each.version(), name)
		}
		assert.Zero(t, watchers["every event"].covered())
	})
}
