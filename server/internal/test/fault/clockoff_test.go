package fault

import (
	"strconv"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	redistest "github.com/gridstand/gridstand/internal/testkit/redis"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
	"github.com/gridstand/gridstand/server"
)

// Ensure that servers whose clocks are wrong by more than a day, one fast and one
// slow, serve the same games beside each other: all answers about a game are
// linearizable, events and clocks have Redis's time, and the leaderboards of the
// day hold what was played today.
func TestClockOff(t *testing.T) {
	t.Parallel()
	redis := redistest.StartRedis(t)
	env := newEnv(t, redis.Addr())
	off := func(by time.Duration) *testServer {
		return env.serveWith(func(c *server.Config) { c.Now = func() time.Time { return time.Now().Add(by) } })
	}
	began, err := env.store.Time(t.Context()).Result()
	require.NoError(t, err)
	early, late := off(-36*time.Hour), off(36*time.Hour)

	rng := seeded(t)
	for _, servers := range [][2]*testServer{{early, late}, {late, early}} {
		here := env.player(servers[0])
		clients := []*caller{here, here.on(servers[1])}
		game := here.start(t, "classic")
		var watchers []*watcher
		for _, s := range servers {
			watchers = append(watchers, env.anonymous(s).watch(t, game.GetId(), watching{}))
		}
		require.Eventually(t, func() bool {
			g, err := clients[1].get(t.Context(), game.GetId())
			return assert.NoError(t, err) && g.GetWatchers() == 2
		}, patience, 20*time.Millisecond, "watchers of both servers are counted")
		require.NoError(t, play(t.Context(), rng, game, 40, func(int32) {}, clients...))
		for _, each := range watchers {
			require.NoError(t, each.awaitEnd(t))
			assert.Zero(t, each.covered())
		}
		const limit = 1500 * time.Millisecond
		table, _ := waitingTable(t, env, servers[0], limit)
		requireTimeOut(t, limit, participate(t, &participant{gameID: table.GetId(), clients: []*caller{env.anonymous(servers[1])}}).awaitEnd(t))
	}
	for _, s := range []*testServer{early, late} {
		for _, window := range []pb.Window{pb.Window_WINDOW_ALL_TIME, pb.Window_WINDOW_WEEK, pb.Window_WINDOW_DAY} {
			scores, err := env.anonymous(s).leaderboard.ListScores(t.Context(), &pb.ListScoresRequest{Variant: "classic", Window: window})
			require.NoError(t, err)
			assert.Len(t, scores.GetEntries(), 2, "%v", window)
		}
	}
	for name, scenario := range scenarios {
		w, err := scenario.open(t.Context(), accounts(env, early, late))
		require.NoError(t, err)
		require.NoError(t, w.run(t.Context(), rng.Uint64()))
		assert.Equal(t, porcupine.Ok, w.checkLinearizable(t, env.genesis(t, env.anonymous(early), w.game)), name)
	}

	ended, err := env.store.Time(t.Context()).Result()
	require.NoError(t, err)
	for gameID, entries := range env.logs(t.Context(), t) {
		for _, entry := range entries {
			at, err := strconv.ParseInt(entry.Values["t"].(string), 10, 64)
			require.NoError(t, err)
			assert.WithinRange(t, time.UnixMilli(at), began.Truncate(time.Millisecond), ended, "%s %s", gameID, entry.ID)
		}
	}
	for _, due := range env.store.ZRangeWithScores(t.Context(), "due", 0, -1).Val() {
		assert.Less(t, time.UnixMilli(int64(due.Score)).Sub(ended), 10*time.Minute, "%v", due.Member)
	}
}
