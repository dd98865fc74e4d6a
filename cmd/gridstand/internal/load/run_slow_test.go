//go:build slow

package load_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/client"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/load"
	"github.com/gridstand/gridstand/internal/testkit/process"
	redistest "github.com/gridstand/gridstand/internal/testkit/redis"
	servertest "github.com/gridstand/gridstand/internal/testkit/server"
	"github.com/gridstand/gridstand/internal/testkit/testmain"
	waittest "github.com/gridstand/gridstand/internal/testkit/wait"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
	"github.com/gridstand/gridstand/server"
)

func TestMain(m *testing.M) { testmain.Run(m) }

// small returns a load that any machine can handle. It lasts until the test ends it.
func small(s *server.Server) load.Config {
	return load.Config{
		Server: client.Config{Target: s.Addr().String()}, Variant: "6x6",
		Games: 4, Players: 2, Watchers: 2, Crowd: 3, Rate: 200, Duration: time.Hour, EndTimeout: waittest.Patience,
	}
}

// start starts a server whose configuration the test can change.
func start(t *testing.T, change func(*server.Config)) *server.Server {
	t.Helper()
	config := servertest.Config(t)
	if change != nil {
		change(&config)
	}
	s, _ := servertest.Start(t, config)
	return s
}

// run runs a load until done returns true for its progress. The load must not fail.
func run(t *testing.T, config load.Config, done func(load.Progress) bool) *load.Report {
	t.Helper()
	ctx, cancel := context.WithCancel(waittest.Context(t))
	defer cancel()
	reached := false
	config.Progress = func(p load.Progress) {
		if p.Phase == "load" && !reached && done(p) {
			reached = true
			cancel()
		}
	}
	report, err := load.Run(ctx, config)
	require.NoError(t, err)
	require.True(t, reached, "the load ended too early")
	return report
}

// delivering reports whether players make moves and watchers see them.
func delivering(p load.Progress) bool { return p.MovesPerSecond > 0 && p.EventsPerSecond > 0 }

// after calls do once watchers see moves. It returns a condition that is true once watchers see
// moves that were made after do.
func after(do func()) func(load.Progress) bool {
	since := 0 // number of reports that began after do
	return func(p load.Progress) bool {
		switch {
		case since == 0 && delivering(p):
			do()
			since = 1
			return false
		case since == 0:
			return false
		}
		since++
		return since > 2 && delivering(p) // the first report also counts what happened during do
	}
}

// Ensure that watchers see every event of a load on a real server, over gRPC and over
// Server-Sent Events.
func TestRun_WatchersSeeEverything(t *testing.T) {
	t.Parallel()
	for name, events := range map[string]bool{"gRPC": false, "events": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			watchersSeeEverything(t, events)
		})
	}
}

func watchersSeeEverything(t *testing.T, events bool) {
	t.Helper()
	s := start(t, func(c *server.Config) { c.Metrics = "127.0.0.1:0" })
	config := small(s)
	config.Events = events
	config.Metrics = "http://" + s.MetricsAddr().String() + "/metrics"
	r := run(t, config, delivering)

	require.NoError(t, r.Err())
	assert.Empty(t, r.Errors)
	assert.Positive(t, r.Moves)
	assert.Equal(t, r.Moves, r.Move.Count)
	assert.GreaterOrEqual(t, r.Delivery.Count, 2*r.Moves, "each move must be delivered to the game's watchers")
	assert.Greater(t, r.Events, r.Delivery.Count, "and so must the end of each game")
	assert.Equal(t, 4*2+3, r.Watchers)
	assert.Equal(t, int64(4), r.Resigned)
	assert.Zero(t, r.Left+r.Reconnects)
	for _, l := range []load.Latency{r.Move, r.Delivery} {
		assert.Positive(t, l.P50)
		assert.LessOrEqual(t, l.P50, l.P99)
		assert.LessOrEqual(t, l.P99, l.Max)
	}

	require.NotNil(t, r.Metrics)
	assert.Zero(t, *r.Metrics.Before.Watchers)
	assert.EqualValues(t, r.Watchers, *r.Metrics.Ready.Watchers)
	assert.EqualValues(t, r.Games, *r.Metrics.After.Games)
	assert.Positive(t, *r.Metrics.After.Goroutines)

	c, err := client.Dial(config.Server)
	require.NoError(t, err)
	defer c.Close()
	games, err := c.Games.ListGames(t.Context(), &pb.ListGamesRequest{})
	require.NoError(t, err)
	assert.Empty(t, games.GetGames(), "the games must be private")
	scores, err := c.Leaderboard.ListScores(t.Context(), &pb.ListScoresRequest{Variant: "6x6"})
	require.NoError(t, err)
	assert.Zero(t, scores.GetTotal())
}

// Ensure that a game that ends is replaced by another, including games with several seats.
func TestRun_GamesFollowEachOther(t *testing.T) {
	t.Parallel()
	s := start(t, nil)
	for _, variant := range []string{"3x3", "tribolo"} {
		t.Run(variant, func(t *testing.T) {
			t.Parallel()
			config := small(s)
			config.Variant, config.Rate, config.Crowd = variant, 300, 0
			config.Public, config.EveryEvent = true, true
			c, err := client.Dial(config.Server)
			require.NoError(t, err)
			defer c.Close()
			finished := func() []*pb.Game {
				answer, err := c.Games.ListGames(context.WithoutCancel(t.Context()),
					&pb.ListGamesRequest{Variant: variant, Status: pb.GameStatus_GAME_STATUS_FINISHED})
				assert.NoError(t, err)
				return answer.GetGames()
			}
			ctx, cancel := context.WithCancel(waittest.Context(t))
			defer cancel()
			config.Progress = func(load.Progress) {
				if len(finished()) > 0 { // finished can list the games, because config.Public is set
					cancel()
				}
			}
			r, err := load.Run(ctx, config)
			require.NoError(t, err)
			require.NoError(t, r.Err())
			assert.Zero(t, r.Skipped)
			assert.LessOrEqual(t, r.Resigned, int64(r.Games))
			waittest.Until(t, "the server lists all games", func() bool { return len(finished()) == int(r.Played) })
			for _, g := range finished() {
				assert.False(t, g.GetRanked())
			}
		})
	}
}

// Ensure that a run reports the games that it can no longer end.
func TestRun_ServerGoesAway(t *testing.T) {
	t.Parallel()
	serverConfig := servertest.Config(t)
	serverConfig.Listen = process.FreeAddress(t) // The load still calls the server after it has stopped.
	s, stop := servertest.Start(t, serverConfig)
	config := small(s)
	config.EndTimeout = time.Second
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	gone := sync.OnceFunc(func() {
		stop()
		cancel()
	})
	config.Progress = func(p load.Progress) {
		if p.Phase == "load" && p.MovesPerSecond > 0 {
			gone()
		}
	}
	r, err := load.Run(ctx, config)
	require.NoError(t, err)
	require.ErrorIs(t, r.Err(), load.ErrBroken)
	assert.Equal(t, int64(config.Games), r.Left)
	assert.Equal(t, r.Watchers, r.Unfinished)
	assert.NotEmpty(t, r.Errors)
}

// Ensure that watchers, like players, move to another server if theirs stops, and miss
// nothing.
func TestRun_FailsOver(t *testing.T) {
	t.Parallel()
	for name, events := range map[string]bool{"gRPC": false, "events": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			shared := servertest.Config(t)
			shared.Store = "redis://" + redistest.StartMiniredis(t).Addr()
			shared.Listen = process.FreeAddress(t) // Watchers still try the server after it has stopped.
			a, stopA := servertest.Start(t, shared)
			shared.Listen = process.FreeAddress(t)
			b, stopB := servertest.Start(t, shared)
			config := small(a)
			config.Events, config.Connections = events, 4
			config.Server.Target += "," + b.Addr().String()
			first := stopA // two of the watchers' three links begin at the lower address
			if b.Addr().String() < a.Addr().String() {
				first = stopB
			}
			r := run(t, config, after(first))
			require.NoError(t, r.Err(), "%+v", r.Errors)
			assert.Positive(t, r.Reconnects)
			assert.Zero(t, r.Left)
		})
	}
}
