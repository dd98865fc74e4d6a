package fault

import (
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/internal/testkit/longtest"
	redistest "github.com/gridstand/gridstand/internal/testkit/redis"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// Ensure that a clock which runs out while Redis is away does so soon after it is
// back, also where the server had just taken the game on itself.
func TestClocks_RedisAwayWhenDue(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		const limit = time.Second
		proxy := redistest.StartProxy(t, w.addr)
		s := w.serve(proxy.Addr())
		game, _ := waitingTable(t, w, s, limit)
		// What reads the log next is the look at the clock.
		happens(t, proxy.Sever(logKey(game.GetId())), "a look at the clock")
		<-time.After(time.Second)
		proxy.Accept()
		runsOut(t, limit, sit(t, &sitter{gameID: game.GetId(), clients: []*caller{w.anybody(s)}}).ends(t))
	})
}

// Ensure the same where the server does not even hear that it took the game on.
func TestClocks_RedisSilentWhenDue(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		const limit = 3 * time.Second
		proxy := redistest.StartProxy(t, w.addr)
		s := w.serve(proxy.Addr())
		game := claimLost(t, w, proxy, s, limit)
		proxy.Accept()
		runsOut(t, limit, sit(t, &sitter{gameID: game.GetId(), clients: []*caller{w.anybody(s)}}).ends(t))
	})
}

// Ensure the same where that server is killed, so that only others are left.
func TestClocks_ClaimantKilled_long(t *testing.T) {
	longtest.Skip(t)
	t.Parallel()
	redis := redistest.StartRedis(t)
	w := newWorld(t, redis.Addr())
	const limit = 3 * time.Second
	proxy := redistest.StartProxy(t, w.addr)
	doomed := w.serveProcess(proxy.Addr())
	game := claimLost(t, w, proxy, doomed, limit)
	doomed.stop()
	other := w.serve(w.addr)
	runsOut(t, limit, sit(t, &sitter{gameID: game.GetId(), clients: []*caller{w.anybody(other)}}).ends(t))
}

// claimLost returns a waitingTable that its server, the only one there is, has just
// claimed without hearing of it: it is cut off from Redis.
func claimLost(t *testing.T, w *world, proxy *redistest.Proxy, s *testServer, limit time.Duration) *pb.Game {
	t.Helper()
	for range 20 {
		game, _ := waitingTable(t, w, s, limit)
		lost := proxy.Sever("\r\ndue\r\n")
		require.NoError(t, w.store.ZAdd(t.Context(), "due", redis.Z{Member: game.GetId()}).Err())
		happens(t, lost, "a look at what is due")
		if w.store.ZScore(t.Context(), "due", game.GetId()).Val() > 0 {
			return game
		}
		// Something else about what is due was cut off, or the game is over.
		proxy.Accept()
	}
	require.Fail(t, "no claim is ever lost")
	return nil
}

// happens waits for something that a channel tells of.
func happens(t *testing.T, told <-chan struct{}, what string) {
	t.Helper()
	select {
	case <-told:
	case <-time.After(patience):
		require.Fail(t, "it does not happen", what)
	}
}
