package streams

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"

	eventstest "github.com/gridstand/gridstand/internal/testkit/events"
	playertest "github.com/gridstand/gridstand/internal/testkit/player"
	servertest "github.com/gridstand/gridstand/internal/testkit/server"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
	"github.com/gridstand/gridstand/server"
)

// config returns the configuration of a server that does not limit the rate of moves. A stop that
// would have to cut off streams takes longer than tests wait.
func config(t *testing.T) server.Config {
	t.Helper()
	c := servertest.Config(t)
	c.Limits.MovesPerSecond = 0
	c.StopTimeout = 2 * patience
	return c
}

// player is an account with a game.
type player struct {
	*playertest.Player
	game *pb.Game
}

// newPlayer creates an account and a game.
func newPlayer(t *testing.T, address net.Addr, request *pb.CreateGameRequest) *player {
	t.Helper()
	return newPlayerOn(t, servertest.Dial(t, address), request)
}

func newPlayerOn(t *testing.T, conn *grpc.ClientConn, request *pb.CreateGameRequest) *player {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	p := playertest.New(ctx, t, conn, "Ann")
	return &player{p, p.Create(t, request)}
}

// path returns the path of the game's events.
func (p *player) path() string { return "/g/" + p.game.GetId() + "/events" }

// move makes n moves.
func (p *player) move(t *testing.T, n int) {
	t.Helper()
	for range n {
		p.Move(t, p.game)
	}
}

// transcript returns all events of the finished game, over gRPC.
func (p *player) transcript(t *testing.T) []*pb.Event {
	t.Helper()
	from := int32(0)
	stream, err := p.Games.Watch(p.Ctx, &pb.WatchRequest{GameId: p.game.GetId(), AfterVersion: &from, EveryEvent: true})
	require.NoError(t, err)
	var all []*pb.Event
	for {
		update, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			return all
		}
		require.NoError(t, err)
		if e := update.GetEvent(); e != nil {
			all = append(all, e)
		}
	}
}

// reader is a connection on which a test reads a game's events.
type reader struct {
	*eventstest.Reader
	conn   net.Conn
	answer *http.Response
}

// read sends a request for events. Headers have the form "Name: value".
func read(t *testing.T, address net.Addr, path string, headers ...string) *reader {
	t.Helper()
	conn, err := net.Dial("tcp", address.String())
	require.NoError(t, err)
	return readOn(t, conn, "GET "+path+" HTTP/1.1", headers...)
}

func readOn(t *testing.T, conn net.Conn, line string, headers ...string) *reader {
	t.Helper()
	r := tryRead(t, conn, line, headers...)
	require.NotNil(t, r, "no answer")
	return r
}

// tryRead is like read on an open connection, but returns nil if the connection ends before the
// response.
func tryRead(t *testing.T, conn net.Conn, line string, headers ...string) *reader {
	t.Helper()
	t.Cleanup(func() { _ = conn.Close() })
	require.NoError(t, conn.SetDeadline(time.Now().Add(patience)))
	_, err := fmt.Fprintf(conn, "%s\r\nHost: test\r\n%s\r\n", line, strings.Join(append(headers, ""), "\r\n"))
	require.NoError(t, err)
	in := bufio.NewReader(conn)
	method, _, _ := strings.Cut(line, " ")
	answer, err := http.ReadResponse(in, &http.Request{Method: method})
	if err != nil {
		return nil
	}
	t.Cleanup(func() { _ = answer.Body.Close() })
	return &reader{eventstest.NewReader(answer.Body), conn, answer}
}

// audience reads until the server reports an audience of the given size.
func (r *reader) audience(t *testing.T, size int32) {
	t.Helper()
	for {
		got, err := r.Next()
		require.NoError(t, err)
		if a, ok := got.Update.GetUpdate().(*pb.WatchResponse_Audience); ok {
			require.Empty(t, got.ID)
			if a.Audience == size {
				return
			}
		}
	}
}

// rest reads the rest of the response.
func (r *reader) rest(t *testing.T) string {
	t.Helper()
	all, err := io.ReadAll(r.Body)
	require.NoError(t, err)
	return string(all)
}

// Requests for new games. With random moves, about 12% of classic games end in fewer than 120
// moves, whereas games of 6x6 last for hundreds of moves.
var (
	classic = &pb.CreateGameRequest{Variant: "classic"}
	long    = &pb.CreateGameRequest{Variant: "6x6"}
)
