//go:build slow

package fault

import (
	"context"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	waittest "github.com/gridstand/gridstand/internal/testkit/wait"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/health"
	"google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/status"

	grpctest "github.com/gridstand/gridstand/internal/testkit/grpc"
	"github.com/gridstand/gridstand/internal/testkit/process"
	servertest "github.com/gridstand/gridstand/internal/testkit/server"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// throughProxy starts HAProxy in front of a server, if it is installed. It uses the shipped
// configuration except for addresses and the replacements in edit.
func throughProxy(t *testing.T, backend *testServer, edit ...string) *testServer {
	t.Helper()
	program, err := exec.LookPath("haproxy")
	if err != nil {
		t.Skip("haproxy is not installed")
	}
	shipped, err := os.ReadFile("../../../../deploy/haproxy.cfg")
	require.NoError(t, err)
	addr := process.FreeAddress(t)
	text := regexp.MustCompile(`(?ms)^resolvers docker$.*?^$`).ReplaceAllString(string(shipped), "")
	text = strings.NewReplacer(append([]string{
		"bind :2048\n", "bind " + addr + "\n",
		"server-template server 16 server:2048 ", "server one " + backend.addr + " ",
		"resolvers docker init-addr none", "",
	}, edit...)...).Replace(text)
	path := filepath.Join(t.TempDir(), "haproxy.cfg")
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	cmd := exec.Command(program, "-db", "-f", path)
	cmd.Stdout, cmd.Stderr = t.Output(), t.Output()
	process := process.Start(t, cmd)
	t.Cleanup(process.Kill)
	waittest.Until(t, "HAProxy listens", func() bool {
		conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", addr)
		if err == nil {
			_ = conn.Close()
		}
		return err == nil
	})
	return &testServer{addr: addr, stop: process.Kill, process: process}
}

// Ensure that the proxy closes the connections of an address that makes too many calls, and no others.
func TestThroughProxy_Flood(t *testing.T) {
	t.Parallel()
	env := newUncheckedEnv(t)
	backend, _ := env.serveMeasured("--proxies", "127.0.0.1")
	front := throughProxy(t, backend, "http_req_rate gt 100000", "http_req_rate gt 1000")
	player := env.player(front)
	flooder, err := dialRaw(t.Context(), dialFrom(t, 1), front.addr, slowWindow)
	require.NoError(t, err)
	t.Cleanup(func() { _ = flooder.conn.Close() })
	var reading sync.WaitGroup
	reading.Go(func() { flooder.read(func(uint32, string) {}) })
	waittest.Until(t, "the proxy closes the connection", func() bool {
		return flooder.calls(pb.GameService_Move_FullMethodName, tinyBatch) != nil
	})
	reading.Wait()
	player.start(t, "6x6")
}

// Ensure that the proxy sends no calls to a server that says that it is stopping, although it accepts
// connections, and sends calls to it again once it serves.
func TestThroughProxy_NotServing(t *testing.T) {
	t.Parallel()
	listener := process.Listen(t)
	reports, backend := health.NewServer(), grpc.NewServer()
	grpc_health_v1.RegisterHealthServer(backend, reports)
	grpctest.Serve(t, backend, listener)
	front := throughProxy(t, &testServer{addr: listener.Addr().String()})
	addr, err := net.ResolveTCPAddr("tcp", front.addr)
	require.NoError(t, err)
	conn := servertest.Dial(t, addr)
	awaitCall := func(want codes.Code) {
		t.Helper()
		waittest.Until(t, "the proxy has noticed the status", func() bool {
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()
			// The service is unknown to the backend, so an answer is from the backend only if it is NotFound.
			_, err := grpc_health_v1.NewHealthClient(conn).Check(ctx, &grpc_health_v1.HealthCheckRequest{Service: "none"})
			return status.Code(err) == want
		})
	}
	awaitCall(codes.NotFound)
	reports.SetServingStatus("", grpc_health_v1.HealthCheckResponse_NOT_SERVING)
	awaitCall(codes.Unavailable)
	reports.SetServingStatus("", grpc_health_v1.HealthCheckResponse_SERVING)
	awaitCall(codes.NotFound)
}

// Ensure that the proxy ends streams that their clients do not read, so that the server can
// free them, but does not end a Watch of a game without events.
func TestThroughProxy_Quiet(t *testing.T) {
	t.Parallel()
	env := newRedisEnv(t)
	backend, g := env.serveMeasured("--proxies", "127.0.0.1", "--max-moves-per-second=0")
	// The server sends something at least every 20 seconds, and later if the machine stalls.
	front := throughProxy(t, backend, "timeout client 65s", "timeout client 35s")
	player := env.player(front)
	game := player.playTo(t, player.start(t, "6x6"), longer)
	quiet := player.watch(t, game.GetId(), watching{})
	began := time.Now()
	for range 5 {
		c, err := dialRaw(t.Context(), &net.Dialer{}, front.addr, slowWindow)
		require.NoError(t, err)
		t.Cleanup(func() { _ = c.conn.Close() })
		_, err = c.call(pb.GameService_Watch_FullMethodName, &pb.WatchRequest{GameId: game.GetId(), AfterVersion: fromStart()})
		require.NoError(t, err)
	}
	waittest.Until(t, "all streams are open", func() bool { return g.read(t, "gridstand_streams") == 6 })
	waittest.Until(t, "unread streams have ended", func() bool { return g.read(t, "gridstand_streams") == 1 })
	t.Logf("streams that are not read ended after %v", time.Since(began))
	waittest.Until(t, "the quiet stream would have ended", func() bool { return time.Since(began) > 75*time.Second })
	require.Equal(t, 1, g.read(t, "gridstand_streams"), "the quiet stream was ended")
	player.playTo(t, game, longer+1)
	_, err := player.resign(t.Context(), game.GetId())
	require.NoError(t, err)
	require.NoError(t, quiet.awaitEnd(t))
}
