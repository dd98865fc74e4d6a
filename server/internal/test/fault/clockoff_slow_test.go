//go:build slow

package fault

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	waittest "github.com/gridstand/gridstand/internal/testkit/wait"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
	"github.com/gridstand/gridstand/server"
)

// Ensure that two servers whose clocks are wrong by more than a day, one fast and one slow, can
// serve the same games: events and clocks use Redis's time, and the daily leaderboards contain
// today's games.
func TestClockOff(t *testing.T) {
	t.Parallel()
	env := newRedisEnv(t)
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
			waittest.Until(t, "the watchers of both servers are counted", func() bool {
				g, err := clients[1].get(t.Context(), game.GetId())
				return assert.NoError(t, err) && g.GetWatchers() == 2
			})
			require.NoError(t, play(t.Context(), rng, game, 40, func(int32) {}, clients...))
			for _, each := range watchers {
				require.NoError(t, each.awaitEnd(t))
				assert.Zero(t, each.covered())
			}
		})
		t.Run("clocks run out on time: "+name, func(t *testing.T) {
			const limit = 500 * time.Millisecond
			table, _ := waitingTable(t, env, servers[0], limit)
			requireTimeOut(t, limit, participate(t, &participant{}, table.GetId(), env.anonymous(servers[1])).awaitEvents(t))
		})
	}
	t.Run("leaderboards are today's", func(t *testing.T) {
		for _, s := range []*testServer{slow, fast} {
			for _, window := range []pb.Window{pb.Window_WINDOW_ALL_TIME, pb.Window_WINDOW_WEEK, pb.Window_WINDOW_DAY} {
				reader := env.anonymous(s)
				// If Redis is slow, a server records a result after it has answered the last call.
				waittest.Until(t, "the scores are on a board of today", func() bool {
					scores, err := reader.leaderboard.ListScores(t.Context(), &pb.ListScoresRequest{Variant: "classic", Window: window})
					return assert.NoError(t, err) && len(scores.GetEntries()) == len(pairs)
				})
			}
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
}
