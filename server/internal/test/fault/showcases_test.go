package fault

import (
	"context"
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

// live are the games that a server lists as live. The test knows of exhibitions only.
func (c *caller) live(t *testing.T) []*pb.Game {
	t.Helper()
	var reply *pb.ListGamesResponse
	require.NoError(t, retry(t.Context(), func(ctx context.Context) (err error) {
		reply, err = c.games.ListGames(ctx, &pb.ListGamesRequest{Status: pb.GameStatus_GAME_STATUS_ACTIVE})
		return err
	}))
	for _, g := range reply.GetGames() {
		require.True(t, g.GetExhibition())
	}
	return reply.GetGames()
}

// awaitShowcase looks for live games until one moves, and requires that there is never
// more than one.
func (c *caller) awaitShowcase(t *testing.T) *pb.Game {
	t.Helper()
	var first *pb.Game
	for deadline := time.Now().Add(patience); ; <-time.After(botPace) {
		require.True(t, time.Now().Before(deadline), "no game moves")
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

// awaitOver waits until a game is over, without looking at it.
func (c *caller) awaitOver(t *testing.T, gameID string) {
	t.Helper()
	require.Eventually(t, func() bool {
		reply, err := c.games.ListGames(t.Context(), &pb.ListGamesRequest{Status: pb.GameStatus_GAME_STATUS_FINISHED})
		require.NoError(t, err)
		return len(reply.GetGames()) > 0 && reply.GetGames()[0].GetId() == gameID
	}, patience, botPace)
}

// exhibiting has a server begin exhibitions, which end soon if no client looks.
func exhibiting(c *server.Config) { c.Exhibition, c.PauseAfter = true, time.Second }

// Ensure that three servers together begin one exhibition, whatever number of clients
// look for live games at the same time.
func TestShowcase_ThreeServers(t *testing.T) {
	t.Parallel()
	onRedis(t, func(t *testing.T, env *env) {
		var clients []*caller
		for range 3 {
			clients = append(clients, env.anonymous(env.serveWith(func(c *server.Config) {
				c.Exhibition, c.PauseAfter, c.BotPace = true, 5*time.Second, 100*time.Millisecond
			})))
		}
		var group errgroup.Group
		found := make(chan string, 100)
		for _, c := range clients {
			for range 5 {
				group.Go(func() error {
					found <- c.awaitShowcase(t).GetId()
					return nil
				})
			}
		}
		require.NoError(t, group.Wait())
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
	})
}

// Ensure that nothing is due and nothing runs once clients have left, and that there is
// one exhibition after a restart, the one before it or another one.
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

// Ensure that an exhibition whose server is killed goes on, and stays the only one.
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
		t.Logf("moves %v after a server was killed", time.Since(killed))
		servers[n%len(servers)] = serve()
	}
}

// called returns how often Redis ran each command.
func (env *env) called(t *testing.T) map[string]int {
	t.Helper()
	stats, err := env.redis.Info(t.Context(), "commandstats").Result()
	require.NoError(t, err)
	calls := map[string]int{}
	for _, line := range strings.Split(stats, "\r\n") {
		name, fields, _ := strings.Cut(strings.TrimPrefix(line, "cmdstat_"), ":calls=")
		count, _, _ := strings.Cut(fields, ",")
		calls[name], _ = strconv.Atoi(count)
	}
	return calls
}

// idleCommands are the commands that Redis runs while a server polls for jobs and sends
// heartbeats, so many times in all.
func (env *env) idleCommands(t *testing.T, polls int) (names []string) {
	t.Helper()
	before := env.called(t)
	now := before
	require.Eventually(t, func() bool {
		now = env.called(t)
		return now["evalsha"] >= before["evalsha"]+polls
	}, patience, 100*time.Millisecond)
	for name, n := range now {
		// The test and new connections run the others.
		if n > before[name] && !slices.Contains([]string{"info", "ping", "hello", "client|setinfo"}, name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// Ensure that servers that begin exhibitions ask no more of an idle store than others, nor
// do they once clients have left.
func TestShowcase_Idle_long(t *testing.T) {
	longtest.Skip(t)
	t.Parallel()
	redis := redistest.StartRedis(t)
	env := newEnv(t, redis.Addr())
	s := env.serveWith(func(*server.Config) {})
	env.idleCommands(t, 4) // It has started.
	usual := env.idleCommands(t, 60)
	s.stop()
	s = env.serveWith(exhibiting)
	env.idleCommands(t, 4)
	assert.Subset(t, usual, env.idleCommands(t, 20), "no client has looked")
	viewer := env.anonymous(s)
	viewer.awaitOver(t, viewer.awaitShowcase(t).GetId())
	env.idleCommands(t, 4)
	assert.Subset(t, usual, env.idleCommands(t, 20), "no client looks any more")
}
