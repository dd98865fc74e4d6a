//go:build slow

package fault

import (
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"

	"github.com/gridstand/gridstand/internal/testkit/process"
	redistest "github.com/gridstand/gridstand/internal/testkit/redis"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// longer is a version at which a game has more events than gRPC buffers for a client that does
// not read.
const longer = 800

// Ensure that a watcher that reads nothing for too long is told to reconnect, in a way that gRPC
// clients understand. A watcher that does not even read the message loses the connection, which
// frees its memory. Neither kind of watcher may delay other clients.
func TestStalledReader(t *testing.T) {
	t.Parallel()
	redis := redistest.StartRedis(t)
	env := newEnv(t, redis.Addr())
	player := env.player(env.serveProcess())
	game := player.start(t, "6x6")
	last := player.playTo(t, game, longer)
	// The first stream must not stall before the last one is open.
	server, g := env.serveMeasured("--max-moves-per-second=0", "--stall=20s")
	player = player.on(server)
	before := g.read(t, "gridstand_connections")

	open := func() *slowStream {
		stream, err := slowWatch(t.Context(), server.addr, &pb.WatchRequest{GameId: game.GetId(), AfterVersion: fromStart()})
		require.NoError(t, err)
		return stream
	}
	waking := open()
	for range 5 {
		open()
	}
	require.Eventually(t, func() bool { return g.read(t, "gridstand_watchers") == 6 }, patience, 20*time.Millisecond)
	require.Equal(t, before+6, g.read(t, "gridstand_connections"))
	require.Eventually(t, func() bool { return g.read(t, "gridstand_watchers") == 0 }, patience, 20*time.Millisecond)

	var version int32
	for {
		message, err := waking.Recv()
		if err != nil {
			r := refusalOf(checkError(err))
			assert.Equal(t, codes.Unavailable, r.code)
			assert.Equal(t, pb.ReasonServerUnavailable, r.reason)
			assert.Positive(t, r.retry)
			assert.Equal(t, "500", waking.response.Trailer.Get("Grpc-Retry-Pushback-Ms"))
			break
		}
		if e := message.GetEvent(); e != nil {
			require.Equal(t, version+1, e.GetVersion())
			version = e.GetVersion()
		}
	}
	assert.Positive(t, version)
	assert.Less(t, version, int32(longer), "the stream was not cut short")

	require.Eventually(t, func() bool { return g.read(t, "gridstand_connections") == before }, patience, 20*time.Millisecond,
		"a client that reads nothing keeps the connection")
	player.requirePlayable(t, last)
	_, err := player.resign(t.Context(), game.GetId())
	require.NoError(t, err)
}

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
	require.Eventually(t, func() bool { return g.read(t, "gridstand_watchers") == conns*streams }, patience, 20*time.Millisecond)
	peak := g.peakMemory(t)
	b.player.playTo(t, game, longer)
	busy := b.measureMoves(t)
	for _, c := range raw {
		_ = c.conn.Close()
	}
	require.Eventually(t, func() bool { return g.read(t, "gridstand_connections") <= open+1 }, patience, 20*time.Millisecond)
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
