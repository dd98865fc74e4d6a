package fault

import (
	"context"
	"fmt"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/gridstand/gridstand/internal/testkit/longtest"
	redistest "github.com/gridstand/gridstand/internal/testkit/redis"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
	"github.com/gridstand/gridstand/server"
)

// live returns the games that a server lists as live. In these tests, all of them are
// exhibitions.
func (c *caller) live(t *testing.T) []*pb.Game {
	t.Helper()
	games := c.list(t, pb.GameStatus_GAME_STATUS_ACTIVE)
	for _, g := range games {
		require.True(t, g.GetExhibition())
	}
	return games
}

// list returns the games that a server lists with a status.
func (c *caller) list(t *testing.T, status pb.GameStatus) []*pb.Game {
	t.Helper()
	var reply *pb.ListGamesResponse
	require.NoError(t, c.untilAnswered(t.Context(), func(ctx context.Context) (err error) {
		reply, err = c.games.ListGames(ctx, &pb.ListGamesRequest{Status: status})
		return err
	}))
	return reply.GetGames()
}

// awaitShowcase lists live games until one of them advances, and returns that game. It requires
// that at most one is ever listed.
func (c *caller) awaitShowcase(t *testing.T) *pb.Game {
	t.Helper()
	var first *pb.Game
	for deadline := time.Now().Add(patience); ; <-time.After(botPace) {
		require.True(t, time.Now().Before(deadline), "no game advances")
		games := c.live(t)
		require.LessOrEqual(t, len(games), 1)
		switch {
		case len(games) == 0 || first == nil || first.GetId() != games[0].GetId():
			first = nil
			if len(games) == 1 {
				first = games[0]
			}
		case games[0].GetVersion() > first.GetVersion():
			return games[0]
		}
	}
}

// awaitOver waits, without opening the game, until it is over.
func (c *caller) awaitOver(t *testing.T, gameID string) {
	t.Helper()
	require.Eventually(t, func() bool {
		games := c.list(t, pb.GameStatus_GAME_STATUS_FINISHED)
		return len(games) > 0 && games[0].GetId() == gameID
	}, patience, botPace)
}

// exhibiting makes a server start exhibitions, which end soon if no client watches them.
func exhibiting(c *server.Config) { c.Exhibition, c.PauseAfter = true, time.Second }

// Ensure that three servers together start only one exhibition, no matter how many clients
// request live games at the same time.
func TestShowcase_ThreeServers_long(t *testing.T) {
	longtest.Skip(t)
	t.Parallel()
	onRedis(t, exhibitOnce)
}

// Like TestShowcase_ThreeServers_long, on a Redis Cluster.
func TestShowcase_Cluster_long(t *testing.T) {
	longtest.Skip(t)
	t.Parallel()
	cluster := redistest.StartCluster(t, 3)
	exhibitOnce(t, newEnvOn(t, strings.Join(cluster.Addrs(), ","), cluster.Client()))
}

// exhibitOnce checks that clients of three servers find the same exhibition, and that it ends
// once they have left.
func exhibitOnce(t *testing.T, env *env) {
	t.Helper()
	var clients []*caller
	for range 3 {
		clients = append(clients, env.anonymous(env.serveWith(func(c *server.Config) {
			c.Exhibition, c.PauseAfter, c.BotPace = true, 5*time.Second, 100*time.Millisecond
		})))
	}
	var group errgroup.Group
	found := make(chan string, 100)
	began := time.Now()
	for _, c := range clients {
		for range 5 {
			group.Go(func() error {
				found <- c.awaitShowcase(t).GetId()
				return nil
			})
		}
	}
	require.NoError(t, group.Wait())
	t.Logf("all clients saw a move %v after they requested live games", time.Since(began))
	close(found)
	only := <-found
	for id := range found {
		require.Equal(t, only, id)
	}
	clients[0].awaitOver(t, only)
	all, err := clients[0].games.ListGames(t.Context(), &pb.ListGamesRequest{})
	require.NoError(t, err)
	assert.Len(t, all.GetGames(), 1)
	assert.Zero(t, env.running(t))
}

// Ensure that there is exactly one exhibition after a restart, whether the previous one or a new
// one, and that no job remains once clients have left and the exhibition is over.
func TestShowcase_Restart(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, env *env) {
		s := env.serveWith(exhibiting)
		g := env.anonymous(s).awaitShowcase(t)
		for range 2 {
			s.stop()
			s = env.serveWith(exhibiting)
			g = env.anonymous(s).awaitShowcase(t)
		}
		env.anonymous(s).awaitOver(t, g.GetId())
		s.stop()
		due, err := env.ports().Queue.Due(t.Context(), -24*time.Hour, 24*time.Hour, 10)
		require.NoError(t, err)
		assert.Empty(t, due)
	})
}

// Ensure that an exhibition whose server is killed continues and remains the only one.
func TestShowcase_Killed_long(t *testing.T) {
	longtest.Skip(t)
	t.Parallel()
	redis := redistest.StartRedis(t)
	env := newUncheckedEnv(t, redis.Addr(), redistest.NewClient(t, redis.Addr()))
	env.serversDie = true
	serve := func() *testServer { return env.serveProcess("--exhibition=on") }
	servers := []*testServer{serve(), serve(), serve()}
	var first *pb.Game
	for n := range 6 {
		survivor := env.anonymous(servers[(n+1)%len(servers)])
		g := survivor.awaitShowcase(t)
		if first == nil {
			first = g
		}
		require.Equal(t, first.GetId(), g.GetId())
		killed := time.Now()
		servers[n%len(servers)].stop()
		survivor.awaitShowcase(t)
		t.Logf("moves again %v after the server was killed", time.Since(killed))
		servers[n%len(servers)] = serve()
	}
}

// Ensure that with the default configuration an exhibition is over PauseAfter after the last client
// watched or listed it. On a busy machine it may be over as late as its moves were, and as late as
// the server notices that the client has left.
func TestShowcase_Leaves_long(t *testing.T) {
	longtest.Skip(t)
	t.Parallel()
	for name, watch := range map[string]bool{"watched": true, "listed": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			each(t, func(t *testing.T, env *env) {
				config := server.DefaultConfig()
				viewer := env.anonymous(env.serveWith(func(c *server.Config) { c.Exhibition, c.BotPace = true, config.BotPace }))
				id := viewer.awaitShowcase(t).GetId()
				var left time.Time
				if watch {
					ctx, cancel := context.WithCancel(t.Context())
					stream, err := viewer.games.Watch(ctx, &pb.WatchRequest{GameId: id, EveryEvent: true})
					require.NoError(t, err)
					for range 12 {
						_, err = stream.Recv()
						require.NoError(t, err)
					}
					left = time.Now()
					cancel()
				} else {
					// Servers ignore a list that comes soon after another one.
					const moves = 12
					require.Eventually(t, func() bool { return env.length(t, id) > moves }, patience, 100*time.Millisecond)
					require.Greater(t, moves*config.BotPace, config.PauseAfter/12)
					require.Len(t, viewer.live(t), 1)
					left = time.Now()
				}
				var over *pb.Game
				require.Eventually(t, func() bool {
					if games := viewer.list(t, pb.GameStatus_GAME_STATUS_FINISHED); len(games) > 0 {
						over = games[0]
					}
					return over != nil
				}, 3*patience, 100*time.Millisecond)
				require.Equal(t, id, over.GetId())
				events, err := viewer.transcript(t.Context(), id, over.GetVersion())
				require.NoError(t, err)
				var late time.Duration
				for i, e := range events[1:] {
					if e.GetMoved() != nil || e.GetResult() != nil {
						late = max(late, e.GetTime().AsTime().Sub(events[i].GetTime().AsTime())-config.BotPace)
					}
				}
				took := over.GetUpdateTime().AsTime().Sub(left)
				t.Logf("over %v after the last viewer; moves were up to %v late", took, late)
				assert.LessOrEqual(t, took, config.PauseAfter+late+env.delays.Allowance())
			})
		})
	}
}

// work returns how much a store has done: how many times Redis has run each command, or the number
// of bytes in a file's write-ahead log, which is too short to be restarted.
func (env *env) work(t *testing.T) map[string]float64 {
	t.Helper()
	if env.redis == nil {
		log, err := os.Stat(env.path() + "-wal")
		require.NoError(t, err)
		return map[string]float64{"written": float64(log.Size())}
	}
	stats, err := env.redis.Info(t.Context(), "commandstats").Result()
	require.NoError(t, err)
	calls := map[string]float64{}
	for _, line := range strings.Split(stats, "\r\n") {
		name, fields, ok := strings.Cut(strings.TrimPrefix(line, "cmdstat_"), ":calls=")
		// The excluded commands are run by the test and by new connections.
		if ok && !slices.Contains([]string{"info", "ping", "hello", "client|setinfo"}, name) {
			count, _, _ := strings.Cut(fields, ",")
			calls[name], err = strconv.ParseFloat(count, 64)
			require.NoError(t, err)
		}
	}
	return calls
}

// Ensure that a server with exhibitions makes an idle store do no more than a server without, before
// any client has requested live games and after the last one has left.
func TestShowcase_Idle_long(t *testing.T) {
	longtest.Skip(t)
	t.Parallel()
	// A server that does nothing but poll for jobs and send heartbeats makes its store do measure's
	// work in about 20 s.
	idle := func(t *testing.T, off, on *env, measure string, amount float64) {
		off.serve()
		s := on.serveWith(exhibiting)
		// awaitWork waits until the store without exhibitions has done the given part of amount.
		awaitWork := func(part float64) {
			t.Helper()
			before := off.work(t)[measure]
			require.Eventually(t, func() bool { return off.work(t)[measure] >= before+part*amount }, patience, 100*time.Millisecond)
		}
		differences := func() map[string]string {
			awaitWork(0.1) // until the work of earlier calls is done
			offBefore, onBefore := off.work(t), on.work(t)
			awaitWork(1)
			offNow, onNow := off.work(t), on.work(t)
			differ := map[string]string{}
			for name, n := range onNow {
				want, got := offNow[name]-offBefore[name], n-onBefore[name]
				if math.Abs(got-want) > want/5+1 {
					differ[name] = fmt.Sprintf("%v, not %v", got, want)
				}
			}
			return differ
		}
		compare := func(when string) {
			t.Helper()
			differ := differences()
			for try := 1; len(differ) > 0 && try < 5; try++ { // One of the two stores may have stalled.
				differ = differences()
			}
			assert.Empty(t, differ, when)
		}
		compare("before any client requested live games")
		viewer := on.anonymous(s)
		viewer.awaitOver(t, viewer.awaitShowcase(t).GetId())
		compare("after the last client has left")
	}
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		idle(t, newSQLiteEnv(t), newSQLiteEnv(t), "written", 250_000)
	})
	t.Run("redis", func(t *testing.T) {
		t.Parallel()
		idle(t, newEnv(t, redistest.StartRedis(t).Addr()), newEnv(t, redistest.StartRedis(t).Addr()), "evalsha", 80)
	})
}
