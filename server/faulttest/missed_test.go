package faulttest

import (
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

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
		game, _ := waitingTable(t, w, s, limit)
		for claimed := false; !claimed; {
			lost := proxy.Sever("\r\ndue\r\n")
			require.NoError(t, w.store.ZAdd(t.Context(), "due", redis.Z{Member: game.GetId()}).Err())
			select {
			case <-lost:
			case <-time.After(patience):
				t.Fatal("nobody looks at what is due")
			}
			claimed = w.store.ZScore(t.Context(), "due", game.GetId()).Val() > 0
			proxy.Accept()
		}
		runsOut(t, limit, sit(t, &sitter{gameID: game.GetId(), clients: []*client{w.anybody(s)}}).ends(t))
	})
}
