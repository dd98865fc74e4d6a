package fault

import (
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/internal/testkit/longtest"
	redistest "github.com/gridstand/gridstand/internal/testkit/redis"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
	"github.com/gridstand/gridstand/server"
)

// Ensure that two servers whose clocks are wrong by more than a day, one fast and one slow, can
// serve the same games: all responses about a game are linearizable, events and clocks use
// Redis's time, and the daily leaderboards contain today's games.
func TestClockOff_long(t *testing.T) {
	longtest.Skip(t)
	t.Parallel()
	redis := redistest.StartRedis(t)
	env := newEnv(t, redis.Addr())
	off := func(by time.Duration) *testServer {
		return env.serveWith(func(c *server.Config) { c.Now = func() time.Time { return time.Now().Add(by) } })
	}
	redisTime := func() time.Time {
		now, err := env.ports().Time(t.Context())
		require.NoError(t, err)
		return now
	}
	began, rng := redisTime(), seeded(t)
	slow, fast := off(-36*time.Hour), off(36*time.Hour)
	pairs := map[string][2]*testServer{"slow, fast": {slow, fast}, "fast, slow": {fast, slow}}

	for name, servers := range pairs {
		t.Run("watchers see every event: "+name, func(t *testing.T) {
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
			}, patience, 20*time.Millisecond, "the watchers of both servers are not counted")
			require.NoError(t, play(t.Context(), rng, game, 40, func(int32) {}, clients...))
			for _, each := range watchers {
				require.NoError(t, each.awaitEnd(t))
				assert.Zero(t, each.covered())
			}
		})
		t.Run("clocks run out on time: "+name, func(t *testing.T) {
			const limit = 500 * time.Millisecond
			table, _ := waitingTable(t, env, servers[0], limit)
			requireTimeOut(t, env, limit, participate(t, &participant{gameID: table.GetId(), clients: []*caller{env.anonymous(servers[1])}}).awaitEnd(t))
		})
	}
	t.Run("leaderboards are today's", func(t *testing.T) {
		for _, s := range []*testServer{slow, fast} {
			for _, window := range []pb.Window{pb.Window_WINDOW_ALL_TIME, pb.Window_WINDOW_WEEK, pb.Window_WINDOW_DAY} {
				reader := env.anonymous(s)
				// If Redis is slow, a server records a result after it has answered the last call.
				require.Eventually(t, func() bool {
					scores, err := reader.leaderboard.ListScores(t.Context(), &pb.ListScoresRequest{Variant: "classic", Window: window})
					return assert.NoError(t, err) && len(scores.GetEntries()) == len(pairs)
				}, patience, 20*time.Millisecond, "%v", window)
			}
		}
	})
	t.Run("answers are linearizable", func(t *testing.T) {
		for name, scenario := range scenarios {
			w, err := scenario.open(t.Context(), accounts(env, slow, fast))
			require.NoError(t, err)
			require.NoError(t, w.run(t.Context(), rng.Uint64()))
			assert.Equal(t, porcupine.Ok, w.checkLinearizable(t, env.genesis(t, env.anonymous(slow), w.game)), name)
		}
	})
	ended := redisTime()
	t.Run("events have Redis's time", func(t *testing.T) {
		for gameID, entries := range env.logs(t.Context(), t) {
			for _, entry := range entries {
				assert.WithinRange(t, entry.Time, began.Truncate(time.Millisecond), ended, "%s %s", gameID, entry.ID)
			}
		}
	})
	t.Run("due times are Redis's time", func(t *testing.T) {
		assert.ElementsMatch(t, env.scheduled(t.Context(), t, century), env.scheduled(t.Context(), t, 10*time.Minute))
	})
}
