package faulttest

import (
	"os/exec"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"

	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
	"github.com/gridstand/gridstand/server/childtest"
	"github.com/gridstand/gridstand/server/redistest"
)

// longer is a game with more events than gRPC takes for a reader who does not
// read.
const longer = 800

// Ensure a watcher who takes nothing for too long is told to come again, by
// everything that gRPC's clients understand, that one who does not even take
// that loses the connection, with what is kept for it, and that neither keeps
// anybody else from anything.
func TestStalledReader(t *testing.T) {
	t.Parallel()
	redis := redistest.StartRedis(t)
	w := newWorld(t, redis.Addr())
	server := w.serveProgram(exec.Command(childtest.Build(t, "server")), w.addr, "--max-moves-per-second=0",
		"--stall", "5s", "--metrics", "127.0.0.1:0")
	g := server.gauges(t)
	player := w.player(server)
	game := player.start(t, "6x6")
	last := player.playTo(t, seeded(t), game, longer)
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
	assert.Less(t, version, int32(longer), "it did not come to the end")

	require.Eventually(t, func() bool { return g.read(t, "gridstand_connections") == before }, patience, 20*time.Millisecond,
		"who reads nothing keeps the connection")
	player.goesOn(t, last)
	_, err := player.resign(t.Context(), game.GetId())
	require.NoError(t, err)
}
