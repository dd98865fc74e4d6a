//go:build slow

package fault

import (
	"bufio"
	"fmt"
	"io"
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
	"google.golang.org/protobuf/proto"

	connecttest "github.com/gridstand/gridstand/internal/testkit/connect"
	playertest "github.com/gridstand/gridstand/internal/testkit/player"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
	"github.com/gridstand/gridstand/server"
)

// Ensure that a stopping server answers every call that it executes, so that servers can be
// replaced during play.
func TestServerStopped(t *testing.T) {
	t.Parallel()
	env := newSQLiteEnv(t)
	server := env.serve()
	const players, moves = 6, 20
	all := make([]*pb.Game, players) // as far as the moves were acknowledged
	var group errgroup.Group
	var begun sync.WaitGroup
	begun.Add(players)
	for i := range all {
		player := env.player(server)
		game, games := player.start(t, "6x6"), player.games
		if i%2 == 1 {
			games = pb.NewGameServiceClient(connecttest.Dial(t, server.tcp(t), connecttest.JSON))
		}
		all[i] = game
		ready := sync.OnceFunc(begun.Done)
		group.Go(func() error {
			defer ready()
			for {
				if game.GetVersion() > moves {
					ready()
				}
				moved, err := games.Move(player.authorized(t.Context()), playertest.Slide(game))
				if err != nil {
					// Canceled means that the connection was idle and was therefore closed.
					if code := status.Code(err); code != codes.Unavailable && code != codes.Canceled {
						return err
					}
					return nil
				}
				playertest.Apply(game, moved.GetEvent())
			}
		})
	}
	begun.Wait()
	server.stop()
	require.NoError(t, group.Wait())
	for _, g := range all {
		assert.EqualValues(t, g.GetVersion(), env.length(t, g.GetId()), "a call was carried out but not answered")
	}
}

// Ensure that a stopping server does not wait for things that clients leave unfinished:
// connections that are never set up, requests that never arrive, responses that are not read,
// and streams that stay open until the client ends them.
func TestServerStopped_HeldOpen(t *testing.T) {
	t.Parallel()
	env := newSQLiteEnv(t)
	// A server that waits for a client does not stop in time.
	running := env.serve(func(c *server.Config) { c.StopTimeout = time.Hour })
	player := env.player(running)
	game := player.start(t, "6x6")
	raw := func(window uint32) *rawConn {
		c, err := dialRaw(t.Context(), &net.Dialer{}, running.addr, window)
		require.NoError(t, err)
		t.Cleanup(func() { _ = c.conn.Close() })
		return c
	}
	call := func(c *rawConn, method string, request proto.Message) {
		_, err := c.call(method, request)
		require.NoError(t, err)
	}
	// write opens connections, writes text to each of them, and then reads the given number of lines from it.
	write := func(text string, lines int) func() {
		return func() {
			for range 5 {
				conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", running.addr)
				require.NoError(t, err)
				t.Cleanup(func() { _ = conn.Close() })
				require.NoError(t, conn.(*net.TCPConn).SetReadBuffer(slowWindow))
				_, err = io.WriteString(conn, text)
				require.NoError(t, err)
				answer := bufio.NewReaderSize(conn, 16)
				for range lines {
					_, err := answer.ReadString('\n')
					require.NoError(t, err)
				}
			}
		}
	}
	events := "GET /g/" + game.GetId() + "/events HTTP/1.1\r\nHost: gridstand\r\n\r\n"
	for name, hold := range map[string]func(){
		"silent connections":              write("", 0),
		"connections that are not set up": write(http2.ClientPreface, 0),
		"requests that do not arrive": func() {
			c := raw(slowWindow)
			for range 5 {
				_, err := c.open(pb.GameService_Move_FullMethodName)
				require.NoError(t, err)
			}
		},
		"incomplete requests": func() {
			c := raw(slowWindow)
			for _, method := range []string{
				pb.GameService_Move_FullMethodName, pb.GameService_Watch_FullMethodName, grpc_health_v1.Health_Watch_FullMethodName,
				grpc_reflection_v1.ServerReflection_ServerReflectionInfo_FullMethodName,
			} {
				stream, err := c.open(method)
				require.NoError(t, err)
				require.NoError(t, c.send(stream, false, frame(&pb.WatchRequest{GameId: game.GetId()})))
			}
		},
		"responses and watches that are not read": func() {
			c := raw(0)
			for range 5 {
				call(c, pb.GameService_ListGames_FullMethodName, &pb.ListGamesRequest{PageSize: 200})
				call(c, pb.GameService_Watch_FullMethodName, &pb.WatchRequest{GameId: game.GetId(), AfterVersion: fromStart()})
			}
		},
		"incomplete HTTP headers":          write("GET / HTTP/1.1\r\nHost: gridst", 0),
		"HTTP requests without their body": write(httpCall("ListGames", 20, ""), 0),
		"incomplete HTTP bodies":           write(httpCall("ListGames", 20, "{"), 0),
		"idle HTTP connections":            write("GET /assets/any/main.js HTTP/1.1\r\nHost: gridstand\r\n\r\n", 1),
		// The responses to this many requests exceed what the server may send before the client
		// reads.
		"HTTP responses that are not read":           write(strings.Repeat(httpCall("ListVariants", 2, "{}"), 500), 1),
		"Server-Sent Events":                         write(events, 10),
		"Server-Sent Events that are not read":       write(strings.Replace(events, "events", "events?after_version=0", 1), 0),
		"Server-Sent Events of a client that writes": write(events+events, 1),
		"watches": func() {
			c := raw(1 << 16)
			for range 5 {
				call(c, pb.GameService_Watch_FullMethodName, &pb.WatchRequest{GameId: game.GetId()})
				call(c, grpc_health_v1.Health_Watch_FullMethodName, &grpc_health_v1.HealthCheckRequest{})
			}
		},
	} {
		t.Log(name)
		hold()
	}
	player.playTo(t, game, 20)
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		running.stop()
	}()
	waittest.Receive(t, "the server's stop", stopped)
}

// httpCall returns a Connect request with the given body and Content-Length. If the body is
// shorter than that, the request is incomplete.
func httpCall(method string, length int, body string) string {
	return fmt.Sprintf("POST /gridstand.v1.GameService/%s HTTP/1.1\r\nHost: gridstand\r\nContent-Type: application/json\r\n"+
		"Content-Length: %d\r\n\r\n%s", method, length, body)
}
