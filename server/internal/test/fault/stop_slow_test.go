//go:build slow

package fault

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	waittest "github.com/gridstand/gridstand/internal/testkit/wait"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/net/http2"
	"golang.org/x/sync/errgroup"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/reflection/grpc_reflection_v1"
	"google.golang.org/grpc/status"

	connecttest "github.com/gridstand/gridstand/internal/testkit/connect"
	playertest "github.com/gridstand/gridstand/internal/testkit/player"
	servertest "github.com/gridstand/gridstand/internal/testkit/server"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// Ensure that a stopping server answers every call that it executes, so that servers can be
// replaced during play.
func TestServerStopped(t *testing.T) {
	t.Parallel()
	env := newSQLiteEnv(t)
	config := testConfig(env.url)
	config.Logger = slog.New(failOnError{slog.NewTextHandler(t.Output(), nil), t})
	running, stop := servertest.Start(t, config)
	server := &testServer{addr: running.Addr().String()}
	const players, moves = 6, 20
	type playing struct {
		gameID string
		acked  int32
	}
	all := make([]playing, players)
	var group errgroup.Group
	var begun sync.WaitGroup
	begun.Add(players)
	for i := range all {
		player := env.player(server)
		game, games := player.start(t, "6x6"), player.games
		if i%2 == 1 {
			games = pb.NewGameServiceClient(connecttest.Dial(t, running.Addr(), connecttest.JSON))
		}
		ready := sync.OnceFunc(begun.Done)
		group.Go(func() error {
			defer ready()
			version, position := game.GetVersion(), game.GetPosition()
			for {
				all[i] = playing{game.GetId(), version}
				if version > moves {
					ready()
				}
				request := slide(game.GetId(), version, playertest.Lasting(version, position))
				event, err := games.Move(player.authorized(t.Context()), request)
				if err != nil {
					// Canceled means that the connection was idle and was therefore closed.
					if code := status.Code(err); code != codes.Unavailable && code != codes.Canceled {
						return err
					}
					return nil
				}
				version, position = event.GetEvent().GetVersion(), event.GetEvent().GetPosition()
			}
		})
	}
	begun.Wait()
	stop()
	require.NoError(t, group.Wait())
	for _, p := range all {
		assert.EqualValues(t, p.acked, env.length(t, p.gameID), "a call was carried out but not answered")
	}
}

// Ensure that a stopping server does not wait for things that clients leave unfinished:
// connections that are never set up, requests that never arrive, responses that are not read,
// and streams that stay open until the client ends them.
func TestServerStopped_HeldOpen(t *testing.T) {
	t.Parallel()
	raw := func(ctx context.Context, t *testing.T, addr string, window uint32) *rawConn {
		t.Helper()
		c, err := dialRaw(ctx, &net.Dialer{}, addr, window)
		require.NoError(t, err)
		t.Cleanup(func() { _ = c.conn.Close() })
		return c
	}
	// write opens connections, writes text to each of them, and then reads the given number of
	// lines from it.
	write := func(text func(gameID string) string, lines int) func(ctx context.Context, t *testing.T, addr, gameID string) {
		return func(ctx context.Context, t *testing.T, addr, gameID string) {
			for range 5 {
				conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", addr)
				require.NoError(t, err)
				t.Cleanup(func() { _ = conn.Close() })
				require.NoError(t, conn.(*net.TCPConn).SetReadBuffer(slowWindow))
				_, err = io.WriteString(conn, text(gameID))
				require.NoError(t, err)
				answer := bufio.NewReaderSize(conn, 16)
				for range lines {
					_, err := answer.ReadString('\n')
					require.NoError(t, err)
				}
			}
		}
	}
	greet := func(n int) func(ctx context.Context, t *testing.T, addr, gameID string) {
		return write(func(string) string { return http2.ClientPreface[:n] }, 0)
	}
	web := func(request string, lines int) func(ctx context.Context, t *testing.T, addr, gameID string) {
		return write(func(gameID string) string { return strings.ReplaceAll(request, "GAME", gameID) }, lines)
	}
	holds := map[string]func(ctx context.Context, t *testing.T, addr, gameID string){
		"silent connections":              greet(0),
		"connections that are not set up": greet(len(http2.ClientPreface)),
		"requests that do not arrive": func(ctx context.Context, t *testing.T, addr, _ string) {
			c := raw(ctx, t, addr, slowWindow)
			for range 5 {
				_, err := c.open(pb.GameService_Move_FullMethodName)
				require.NoError(t, err)
			}
		},
		"incomplete requests": func(ctx context.Context, t *testing.T, addr, gameID string) {
			c := raw(ctx, t, addr, slowWindow)
			for _, method := range []string{
				pb.GameService_Move_FullMethodName, pb.GameService_Watch_FullMethodName, grpc_health_v1.Health_Watch_FullMethodName,
				grpc_reflection_v1.ServerReflection_ServerReflectionInfo_FullMethodName,
			} {
				stream, err := c.open(method)
				require.NoError(t, err)
				require.NoError(t, c.send(stream, false, frame(&pb.WatchRequest{GameId: gameID})))
			}
		},
		"responses and watches that are not read": func(ctx context.Context, t *testing.T, addr, gameID string) {
			c := raw(ctx, t, addr, 0)
			for range 5 {
				_, err := c.call(pb.GameService_ListGames_FullMethodName, &pb.ListGamesRequest{PageSize: 200})
				require.NoError(t, err)
				_, err = c.call(pb.GameService_Watch_FullMethodName, &pb.WatchRequest{GameId: gameID, AfterVersion: fromStart()})
				require.NoError(t, err)
			}
		},
		"incomplete HTTP headers":          web("GET / HTTP/1.1\r\nHost: gridst", 0),
		"HTTP requests without their body": web(httpCall("ListGames", 20, ""), 0),
		"incomplete HTTP bodies":           web(httpCall("ListGames", 20, "{"), 0),
		"idle HTTP connections":            web("GET /assets/main.js HTTP/1.1\r\nHost: gridstand\r\n\r\n", 1),
		// The responses to this many requests exceed what the server may send before the client
		// reads.
		"HTTP responses that are not read":           web(strings.Repeat(httpCall("ListVariants", 2, "{}"), 500), 1),
		"Server-Sent Events":                         web("GET /g/GAME/events HTTP/1.1\r\nHost: gridstand\r\n\r\n", 10),
		"Server-Sent Events that are not read":       web("GET /g/GAME/events?after_version=0 HTTP/1.1\r\nHost: gridstand\r\n\r\n", 0),
		"Server-Sent Events of a client that writes": web(strings.Repeat("GET /g/GAME/events HTTP/1.1\r\nHost: gridstand\r\n\r\n", 2), 1),
		"watches": func(ctx context.Context, t *testing.T, addr, gameID string) {
			c := raw(ctx, t, addr, 1<<16)
			for range 5 {
				_, err := c.call(pb.GameService_Watch_FullMethodName, &pb.WatchRequest{GameId: gameID})
				require.NoError(t, err)
				_, err = c.call(grpc_health_v1.Health_Watch_FullMethodName, &grpc_health_v1.HealthCheckRequest{})
				require.NoError(t, err)
			}
		},
	}
	env := newSQLiteEnv(t)
	config := testConfig(env.url)
	config.StopTimeout = time.Hour // A server that waits for a client does not stop in time.
	config.Logger = slog.New(failOnError{slog.NewTextHandler(t.Output(), nil), t})
	running, stop := servertest.Start(t, config)
	player := env.player(&testServer{addr: running.Addr().String()})
	game := player.start(t, "6x6")
	for name, hold := range holds {
		t.Log(name)
		hold(t.Context(), t, running.Addr().String(), game.GetId())
	}
	player.playTo(t, game, 20)
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		stop()
	}()
	waittest.Receive(t, "the server's stop", stopped)
}

// httpCall returns a Connect request with the given body and Content-Length. If the body is
// shorter than that, the request is incomplete.
func httpCall(method string, length int, body string) string {
	return fmt.Sprintf("POST /gridstand.v1.GameService/%s HTTP/1.1\r\nHost: gridstand\r\nContent-Type: application/json\r\n"+
		"Content-Length: %d\r\n\r\n%s", method, length, body)
}
