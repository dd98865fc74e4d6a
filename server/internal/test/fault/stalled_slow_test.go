//go:build slow

package fault

import (
	"strconv"
	"testing"

	waittest "github.com/gridstand/gridstand/internal/testkit/wait"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/internal/testkit/process"
	redistest "github.com/gridstand/gridstand/internal/testkit/redis"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// longer is a version at which a game has more events than gRPC buffers for a client that does
// not read.
const longer = 800

// unreadRoom is the maximum amount of memory, in bytes, that a watcher that reads nothing costs the server.
const unreadRoom = 25_000

// Ensure that thousands of watchers that read nothing while a game has hundreds of fast moves cost the
// server little memory, that it is freed when their connections close, and that players can continue to
// play.
func TestStalledReaders_Memory(t *testing.T) {
	t.Parallel()
	conns, streams := 4, 2000
	if process.Race {
		streams = 400
	}
	redis := redistest.StartRedis(t)
	env := newUncheckedEnv(t, redis.Addr(), redistest.NewClient(t, redis.Addr()))
	env.wrapper = []string{"env", "GOMEMLIMIT=" + strconv.Itoa(memoryLimit)}
	server, g := env.serveMeasured("--max-moves-per-second=0")
	b := newBaseline(t, env.player(server))
	calm := b.measureMoves(t)
	game := b.player.start(t, "6x6")
	before, open := g.read(t, residentMemory), g.read(t, "gridstand_connections")
	var raw []*rawConn
	for range conns {
		c, err := dialRaw(t.Context(), dialFrom(t, 1), server.addr, slowWindow)
		require.NoError(t, err)
		t.Cleanup(func() { _ = c.conn.Close() })
		raw = append(raw, c)
		for range streams {
			_, err := c.call(pb.GameService_Watch_FullMethodName, &pb.WatchRequest{GameId: game.GetId()})
			require.NoError(t, err)
		}
	}
	waittest.Until(t, "all watchers are counted", func() bool { return g.read(t, "gridstand_watchers") == conns*streams })
	peak := g.peakMemory(t)
	b.player.playTo(t, game, longer)
	busy := b.measureMoves(t)
	for _, c := range raw {
		_ = c.conn.Close()
	}
	waittest.Until(t, "their connections have ended", func() bool { return g.read(t, "gridstand_connections") <= open+1 })
	memory := peak()
	t.Logf("%d watchers that read nothing: %d MB (%d before); p50 %v (%v before), p99 %v (%v before)", conns*streams,
		memory>>20, before>>20, at(busy, 50), at(calm, 50), at(busy, 99), at(calm, 99))
	b.assertQuick(t, "watchers that read nothing", calm, busy)
	g.collect(t)
	if !process.Race {
		assert.Less(t, memory, before+conns*streams*unreadRoom)
		assert.Less(t, g.read(t, residentMemory), before+roomFor)
	}
}
