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

// Ensure that a clock that would have run out while Redis was unavailable runs out soon
// afterwards, even if the server had just leased the game.
func TestClocks_RedisUnavailableWhenDue_long(t *testing.T) {
	longtest.Skip(t)
	t.Parallel()
	onRedis(t, func(t *testing.T, env *env) {
		const limit = time.Second
		proxy := redistest.StartProxy(t, env.addr)
		s := env.serveVia(proxy.Addr())
		game, _ := waitingTable(t, env, s, limit)
		// The server's next read of the log is the one that checks the clock.
		awaitSignal(t, proxy.Sever(logKey(game.GetId())), "the check of the clock")
		<-time.After(time.Second)
		proxy.Accept()
		requireTimeOut(t, env, limit, participate(t, &participant{gameID: game.GetId(), clients: []*caller{env.anonymous(s)}}).awaitEnd(t))
	})
}

// Ensure that a clock runs out even if the server leased the game but the reply was lost.
func TestClocks_LeaseReplyLost_long(t *testing.T) {
	longtest.Skip(t)
	t.Parallel()
	onRedis(t, func(t *testing.T, env *env) {
		const limit = 3 * time.Second
		proxy := redistest.StartProxy(t, env.addr)
		s := env.serveVia(proxy.Addr())
		game := loseLeaseReply(t, env, proxy, s, limit)
		proxy.Accept()
		requireTimeOut(t, env, limit, participate(t, &participant{gameID: game.GetId(), clients: []*caller{env.anonymous(s)}}).awaitEnd(t))
	})
}

// Ensure that a clock runs out even if the server that has leased the game is killed, so that
// another server must take over.
func TestClocks_LeaseHolderKilled_long(t *testing.T) {
	longtest.Skip(t)
	t.Parallel()
	redis := redistest.StartRedis(t)
	env := newEnv(t, redis.Addr())
	const limit = 3 * time.Second
	proxy := redistest.StartProxy(t, env.addr)
	doomed := env.serveProcess(via(proxy.Addr()))
	game := loseLeaseReply(t, env, proxy, doomed, limit)
	doomed.stop()
	other := env.serve()
	requireTimeOut(t, env, limit, participate(t, &participant{gameID: game.GetId(), clients: []*caller{env.anonymous(other)}}).awaitEnd(t))
}

// loseLeaseReply returns a waitingTable that its only server has just leased without receiving
// the reply. The server is now cut off from Redis.
func loseLeaseReply(t *testing.T, env *env, proxy *redistest.Proxy, s *testServer, limit time.Duration) *pb.Game {
	t.Helper()
	for range 20 {
		game, _ := waitingTable(t, env, s, limit)
		lost := proxy.Sever("\r\ndue\r\n")
		require.NoError(t, env.redis.ZAdd(t.Context(), "due", redis.Z{Member: game.GetId()}).Err())
		awaitSignal(t, lost, "the request for due games")
		if env.redis.ZScore(t.Context(), "due", game.GetId()).Val() > 0 {
			return game
		}
		// The game was not leased: either the proxy cut off a different request for due games,
		// or the game is over.
		proxy.Accept()
	}
	require.Fail(t, "no reply to a lease was lost")
	return nil
}

// awaitSignal waits until a channel is closed.
func awaitSignal(t *testing.T, told <-chan struct{}, what string) {
	t.Helper()
	select {
	case <-told:
	case <-time.After(patience):
		require.Fail(t, "timed out waiting for a signal", what)
	}
}
