package faulttest

import (
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
	"github.com/gridstand/gridstand/server/redistest"
)

// Ensure that a clock which runs out while Redis is away does so soon after it is
// back, also where the server had just taken the game on itself: nobody else
// looks at it for half a minute then.
func TestClocks_RedisAwayWhenDue(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		const limit = time.Second
		proxy := redistest.StartProxy(t, w.addr)
		s := w.serve(proxy.Addr())
		game, _ := waitingTable(t, w, s, limit)
		// What reads the log next is the look at the clock.
		lost := proxy.Sever(logKey(game.GetId()))
		select {
		case <-lost:
		case <-time.After(patience):
			t.Fatal("nobody looks at the clock")
		}
		<-time.After(time.Second)
		proxy.Accept()
		runsOut(t, limit, sit(t, &sitter{gameID: game.GetId(), clients: []*client{w.anybody(s)}}).ends(t))
	})
}

// Ensure the same where the server does not even hear that it took the game on.
func TestClocks_RedisSilentWhenDue(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		const limit = 3 * time.Second
		proxy := redistest.StartProxy(t, w.addr)
		s := w.serve(proxy.Addr())
		var game *pb.Game
		for tries := 0; game == nil; tries++ {
			require.Less(t, tries, 20, "no claim is ever lost")
			candidate, _ := waitingTable(t, w, s, limit)
			if claimLost(t, w, proxy, candidate.GetId()) {
				game = candidate
			}
		}
		runsOut(t, limit, sit(t, &sitter{gameID: game.GetId(), clients: []*client{w.anybody(s)}}).ends(t))
	})
}

// claimLost brings up a game and cuts the server off while it claims it. It
// returns false when something else about what is due was cut off instead, or the
// game was over by then.
func claimLost(t *testing.T, w *world, proxy *redistest.Proxy, gameID string) bool {
	t.Helper()
	lost := proxy.Sever("\r\ndue\r\n")
	defer proxy.Accept()
	require.NoError(t, w.store.ZAdd(t.Context(), "due", redis.Z{Member: gameID}).Err())
	select {
	case <-lost:
	case <-time.After(patience):
		t.Fatal("nobody looks at what is due")
	}
	return w.store.ZScore(t.Context(), "due", gameID).Val() > 0
}
