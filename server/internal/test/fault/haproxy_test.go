package fault

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/internal/testkit/longtest"
	"github.com/gridstand/gridstand/internal/testkit/process"
	redistest "github.com/gridstand/gridstand/internal/testkit/redis"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// throughProxy starts HAProxy, where it is installed, with the configuration that
// is shipped but for addresses and what edit changes, in front of a server.
func throughProxy(t *testing.T, backend *testServer, edit ...string) *testServer {
	t.Helper()
	program, err := exec.LookPath("haproxy")
	if err != nil {
		t.Skip("haproxy is not installed")
	}
	shipped, err := os.ReadFile("../../../../deploy/haproxy.cfg")
	require.NoError(t, err)
	addr := fmt.Sprintf("127.0.0.1:%d", process.FreePort(t))
	text := regexp.MustCompile(`(?ms)^resolvers docker$.*?^$`).ReplaceAllString(string(shipped), "")
	text = strings.NewReplacer(append([]string{
		"bind :2048 ", "bind " + addr + " ",
		"server-template server 16 server:2048 ", "server one " + backend.addr + " ",
		"resolvers docker init-addr none", "",
	}, edit...)...).Replace(text)
	path := filepath.Join(t.TempDir(), "haproxy.cfg")
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	cmd := exec.Command(program, "-db", "-f", path)
	cmd.Stdout, cmd.Stderr = t.Output(), t.Output()
	process, err := process.Start(cmd)
	require.NoError(t, err)
	t.Cleanup(process.Kill)
	require.Eventually(t, func() bool {
		conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", addr)
		if err == nil {
			_ = conn.Close()
		}
		return err == nil
	}, patience, 10*time.Millisecond, "haproxy does not listen")
	return &testServer{addr: addr, stop: process.Kill, process: process}
}

// Ensure that behind the proxy as it is shipped a client who reads nothing of what
// it asks for costs the server no more than so much memory, and that others play
// on meanwhile through the same proxy.
func TestThroughProxy_unread(t *testing.T) {
	t.Parallel()
	redis := redistest.StartRedis(t)
	w := newUnchecked(t, redis.Addr(), redistest.NewClient(t, redis.Addr()))
	backend := w.serveProgram(exec.Command(process.Build(t, "cmd/gridstand-server")), w.addr,
		"--proxies", "127.0.0.1", "--max-moves-per-second=0", "--max-new-games-per-minute=0", "--metrics", "127.0.0.1:0", "--pprof",
		// That would keep a client from asking for so much.
		"--max-reads-per-address-per-second=0")
	g := backend.gauges(t)
	player := w.player(backend)
	for range 200 {
		_, err := player.create(t.Context(), ofVariant("6x6"))
		require.NoError(t, err)
	}
	front := throughProxy(t, backend)
	s := &steady{player: player.on(front), rng: seeded(t)}
	s.begin(t)
	calm := s.moves(t)
	g.collect(t)
	before := g.read(t, "process_resident_memory_bytes")

	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var refused, asked atomic.Int64
	memory := before
	measure := func() { memory = max(memory, g.read(t, "process_resident_memory_bytes")) }
	var clients sync.WaitGroup
	request := frame(&pb.ListGamesRequest{PageSize: 200})
	for n := range 3 {
		c, err := dialRaw(ctx, place(t, n+1), front.addr, 0)
		require.NoError(t, err)
		context.AfterFunc(ctx, func() { _ = c.conn.Close() })
		clients.Go(func() {
			c.read(func(_ uint32, status string) {
				if status == "8" {
					refused.Add(1)
				}
			})
		})
		clients.Go(func() {
			for range 2000 {
				stream, err := c.open(pb.GameService_ListGames_FullMethodName)
				if err == nil {
					err = c.send(stream, true, request)
				}
				if err != nil {
					return
				}
				asked.Add(1)
			}
		})
	}
	busy := s.moves(t)
	for asked.Load() < 3*2000 && t.Context().Err() == nil {
		measure()
	}
	for range 10 {
		measure()
	}
	t.Logf("%d lists asked for, %d refused, memory %d MB before and %d after; p50 %v before and %v after, p99 %v and %v",
		asked.Load(), refused.Load(), before>>20, memory>>20, at(calm, 50), at(busy, 50), at(calm, 99), at(busy, 99))
	if !process.Race {
		assert.Less(t, memory, before+2*roomFor)
		assert.Less(t, at(busy, 99), longestMove/2+50*at(calm, 99))
	}
	cancel()
	clients.Wait()
	// What was held is let go of with the streams.
	require.Eventually(t, func() bool {
		_, err := w.anybody(front, (&flood{dialer: place(t, 1)}).from()).games.ListGames(t.Context(), &pb.ListGamesRequest{PageSize: 200})
		return err == nil
	}, patience, 20*time.Millisecond)
}

// Ensure that the proxy ends streams of which nobody takes anything, so that the
// server lets go of them, and no Watch of a game in which nothing happens.
func TestThroughProxy_quiet_long(t *testing.T) {
	longtest.Skip(t)
	t.Parallel()
	redis := redistest.StartRedis(t)
	w := newWorld(t, redis.Addr())
	backend := w.serveProgram(exec.Command(process.Build(t, "cmd/gridstand-server")), w.addr,
		"--proxies", "127.0.0.1", "--max-moves-per-second=0", "--stall=1h", "--metrics", "127.0.0.1:0")
	g := backend.gauges(t)
	// The server says something every 20 seconds.
	front := throughProxy(t, backend, "timeout client 65s", "timeout client 25s")
	player := w.player(front)
	game := player.start(t, "6x6")
	last := player.playTo(t, seeded(t), game, longer)
	quiet := player.watch(t, game.GetId(), watching{})
	began := time.Now()
	for range 5 {
		_, err := slowWatch(t.Context(), front.addr, &pb.WatchRequest{GameId: game.GetId(), AfterVersion: fromStart()})
		require.NoError(t, err)
	}
	require.Eventually(t, func() bool { return g.read(t, "gridstand_streams") == 6 }, patience, 20*time.Millisecond)
	require.Eventually(t, func() bool { return g.read(t, "gridstand_streams") == 1 }, 2*patience, 100*time.Millisecond)
	t.Logf("streams that nobody reads end after %v", time.Since(began))
	require.Eventually(t, func() bool { return time.Since(began) > 55*time.Second }, patience, time.Second)
	require.Equal(t, 1, g.read(t, "gridstand_streams"), "the quiet one was ended")
	player.goesOn(t, last)
	_, err := player.resign(t.Context(), game.GetId())
	require.NoError(t, err)
	require.NoError(t, quiet.ends(t))
}
