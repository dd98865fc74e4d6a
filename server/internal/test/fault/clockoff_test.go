package fault

import (
	"os"
	"os/exec"
	"strconv"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/internal/testkit/longtest"
	"github.com/gridstand/gridstand/internal/testkit/process"
	redistest "github.com/gridstand/gridstand/internal/testkit/redis"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// Ensure that servers whose clocks are off by an hour, one this way and one
// that, serve the same games beside each other: all answers about a game have one
// order, no event has their time, clocks of players run by Redis's, and boards of
// the day hold what was played today.
func TestClockOff_long(t *testing.T) {
	longtest.Skip(t)
	t.Parallel()
	redis := redistest.StartRedis(t)
	w := newWorld(t, redis.Addr())
	program := process.BuildOff(t, "cmd/gridstand-server")
	off := func(by time.Duration) *testServer {
		cmd := exec.Command(program)
		cmd.Env = append(os.Environ(), process.Off(by))
		return w.serveProgram(cmd, w.addr, unlimited...)
	}
	began, err := w.store.Time(t.Context()).Result()
	require.NoError(t, err)
	early, late := off(-time.Hour), off(time.Hour)

	rng := seeded(t)
	for _, servers := range [][2]*testServer{{early, late}, {late, early}} {
		here := w.player(servers[0])
		clients := []*caller{here, here.on(servers[1])}
		game := here.start(t, "classic")
		var watchers []*watcher
		for _, s := range servers {
			watchers = append(watchers, w.anybody(s).watch(t, game.GetId(), watching{}))
		}
		require.Eventually(t, func() bool {
			g, err := clients[1].get(t.Context(), game.GetId())
			return assert.NoError(t, err) && g.GetWatchers() == 2
		}, patience, 20*time.Millisecond, "watchers of both servers are counted")
		require.NoError(t, play(t.Context(), rng, game, 40, func(int32) {}, clients...))
		for _, each := range watchers {
			require.NoError(t, each.ends(t))
			assert.Zero(t, each.covered())
		}
		const limit = 1500 * time.Millisecond
		table, _ := waitingTable(t, w, servers[0], limit)
		runsOut(t, limit, sit(t, &sitter{gameID: table.GetId(), clients: []*caller{w.anybody(servers[1])}}).ends(t))
	}
	for _, s := range []*testServer{early, late} {
		for _, window := range []pb.Window{pb.Window_WINDOW_ALL_TIME, pb.Window_WINDOW_WEEK, pb.Window_WINDOW_DAY} {
			scores, err := w.anybody(s).leaderboard.ListScores(t.Context(), &pb.ListScoresRequest{Variant: "classic", Window: window})
			require.NoError(t, err)
			assert.Len(t, scores.GetEntries(), 2, "%v", window)
		}
	}
	for name, stage := range stages {
		a, err := stage.open(t.Context(), accounts(w, early, late))
		require.NoError(t, err)
		require.NoError(t, a.run(t.Context(), rng.Uint64()))
		assert.Equal(t, porcupine.Ok, a.judge(t, w.genesis(t, w.anybody(early), a.game)), name)
	}

	ended, err := w.store.Time(t.Context()).Result()
	require.NoError(t, err)
	for gameID, entries := range w.logs(t.Context(), t) {
		for _, entry := range entries {
			at, err := strconv.ParseInt(entry.Values["t"].(string), 10, 64)
			require.NoError(t, err)
			assert.WithinRange(t, time.UnixMilli(at), began.Truncate(time.Millisecond), ended, "%s %s", gameID, entry.ID)
		}
	}
	for _, due := range w.store.ZRangeWithScores(t.Context(), "due", 0, -1).Val() {
		assert.Less(t, time.UnixMilli(int64(due.Score)).Sub(ended), 10*time.Minute, "%v", due.Member)
	}
}
