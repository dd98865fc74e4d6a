//go:build slow

package load_test

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

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
	ctx, cancel := context.WithTimeout(t.Context(), waittest.Patience)
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
	// In less than a second, the moves in flight at the end would change the rate.
	r := run(t, config, func(p load.Progress) bool { return p.Done >= 1 && delivering(p) })

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
	assert.InDelta(t, float64(r.Moves)/r.Seconds, r.MovesPerSecond, 0.2*r.MovesPerSecond+10)
	assert.Less(t, r.MovesPerSecond, 300.0)

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
			ctx, cancel := context.WithTimeout(t.Context(), waittest.Patience)
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
			assert.Eventually(t, func() bool { return len(finished()) == int(r.Played) }, waittest.Patience, 20*time.Millisecond)
			for _, g := range finished() {
				assert.False(t, g.GetRanked())
			}
		})
	}
}

// Ensure that an interrupted run reports its results so far and leaves no open game.
func TestReadJSON_StopsEarly(t *testing.T) {
	t.Parallel()
	config := small(start(t, nil))
	ctx, cancel := context.WithCancel(t.Context())
	config.Progress = func(p load.Progress) {
		if p.Phase == "load" && p.MovesPerSecond > 0 {
			assert.Equal(t, 3600, p.Of)
			cancel()
		}
	}
	r, err := load.Run(ctx, config)
	require.NoError(t, err)
	require.NoError(t, r.Err())
	assert.True(t, r.Interrupted)
	assert.Equal(t, int64(config.Games), r.Resigned)

	config.Progress = nil
	_, err = load.Run(ctx, config)
	require.ErrorIs(t, err, context.Canceled, "the run ended before there was anything to report")
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

// Ensure that an impossible load is refused with a reason, before or during the run.
func TestRefused(t *testing.T) {
	t.Parallel()
	limited := func(c *server.Config) {
		c.Limits.OpenGamesPerPlayer, c.Limits.WatchersPerGame, c.Limits.StreamsPerConnection, c.Limits.MovesPerSecond = 3, 20, 10, 50
		c.Limits.WatchesPerAddress, c.Limits.SSEPerAddress, c.Limits.ConnectionsPerAddress = 25, 1, 4
	}
	for name, c := range map[string]struct {
		change func(*load.Config)
		want   string
	}{
		"no games":         {func(c *load.Config) { c.Games = 0 }, "games must be 1 or more"},
		"too many players": {func(c *load.Config) { c.Players = 5 }, "from 1 to the number of games"},
		"watchers":         {func(c *load.Config) { c.Watchers = -1 }, "watchers"},
		"rate":             {func(c *load.Config) { c.Rate = -1 }, "rate"},
		"duration":         {func(c *load.Config) { c.Duration = 0 }, "duration"},
		"no connections":   {func(c *load.Config) { c.Connections = -1 }, "connections"},
		"variant":          {func(c *load.Config) { c.Variant = "chess" }, "no variant"},
		"server":           {func(c *load.Config) { c.Server.Target = "a b" }, "host:port"},
		"metrics":          {func(c *load.Config) { c.Metrics = "http://" + c.Server.Target + "/metrics" }, "metrics"},
		"open games":       {func(c *load.Config) { c.Players = 1 }, "--max-open-games 4"},
		"crowd":            {func(c *load.Config) { c.Crowd = 30 }, "--max-watchers-per-game 32"},
		"streams":          {func(c *load.Config) { c.Connections = 2 }, "--max-streams-per-connection 11"},
		"one connection":   {func(c *load.Config) { c.Connections = 1 }, "use 2 or more"},
		"watchers in all":  {func(c *load.Config) { c.Crowd, c.Watchers = 10, 4 }, "--max-watches-per-address"},
		"events":           {func(c *load.Config) { c.Events = true }, "--max-sse-per-address"},
		"connections":      {func(c *load.Config) { c.Connections = 5 }, "--max-connections-per-address"},
		"moves":            {func(c *load.Config) { c.Rate = 101 }, "--max-moves-per-second"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			// Each load has a server of its own, because all loads come from one address.
			config := small(start(t, limited))
			config.Connections = 3
			config.Rate = 10
			c.change(&config)
			_, err := load.Run(t.Context(), config)
			assert.ErrorContains(t, err, c.want)
		})
	}
}

// Ensure that the report names the flag of the limit that was hit.
func TestRateLimit(t *testing.T) {
	t.Parallel()
	config := small(start(t, func(c *server.Config) { c.Limits.MovesPerSecond = 1 }))
	config.Rate = 0
	var refused atomic.Bool
	config.Server.Target = between(t, config.Server.Target, proxy{failed: func(method string, err error) {
		if method == pb.GameService_Move_FullMethodName && status.Code(err) == codes.ResourceExhausted {
			refused.Store(true)
		}
	}})
	r := run(t, config, func(load.Progress) bool { return refused.Load() })
	require.NoError(t, r.Err())
	require.NotEmpty(t, r.Errors)
	assert.Equal(t, "Move", r.Errors[0].Call)
	assert.Equal(t, "RATE_LIMITED", r.Errors[0].Reason)
	assert.Contains(t, r.Errors[0].Advice, "--max-moves-per-second")
}
