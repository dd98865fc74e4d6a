package events

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"
	"google.golang.org/protobuf/encoding/protojson"

	redistest "github.com/gridstand/gridstand/internal/testkit/redis"
	servertest "github.com/gridstand/gridstand/internal/testkit/server"
	"github.com/gridstand/gridstand/internal/testkit/testmain"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
	"github.com/gridstand/gridstand/server"
)

func TestMain(m *testing.M) { testmain.Run(m, redistest.StillDialing) }

// patience is how long a test waits for what should happen soon.
const patience = time.Minute

// config is that of a server on which a game may have any pace.
func config(t *testing.T) server.Config {
	t.Helper()
	c := servertest.Config(t)
	c.Limits.MovesPerSecond = 0
	return c
}

// player plays games of 2048.
type player struct {
	games pb.GameServiceClient
	ctx   context.Context
	token string
	game  *pb.Game
	last  *pb.Event
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
	account, err := pb.NewPlayerServiceClient(conn).CreatePlayer(ctx, &pb.CreatePlayerRequest{Name: "Ann"})
	require.NoError(t, err)
	p := &player{
		games: pb.NewGameServiceClient(conn), token: account.GetToken(),
		ctx: metadata.AppendToOutgoingContext(ctx, "authorization", "Bearer "+account.GetToken()),
	}
	created, err := p.games.CreateGame(p.ctx, request)
	require.NoError(t, err)
	p.game = created.GetGame()
	return p
}

// path returns the path of the game's events.
func (p *player) path() string { return "/g/" + p.game.GetId() + "/events" }

func (p *player) version() int32 { return max(p.game.GetVersion(), p.last.GetVersion()) }

// preferred is the order in which directions are tried, so that a game lasts long.
var preferred = []pb.Direction{
	pb.Direction_DIRECTION_LEFT, pb.Direction_DIRECTION_DOWN, pb.Direction_DIRECTION_RIGHT, pb.Direction_DIRECTION_UP,
}

// move makes n moves.
func (p *player) move(t *testing.T, n int) {
	t.Helper()
	for range n {
		position := p.game.GetPosition()
		if p.last != nil {
			position = p.last.GetPosition()
		}
		legal := map[pb.Direction]bool{}
		for _, d := range position.GetTwenty48().GetLegalMoves() {
			legal[d] = true
		}
		for _, d := range preferred {
			if !legal[d] {
				continue
			}
			moved, err := p.games.Move(p.ctx, &pb.MoveRequest{
				GameId: p.game.GetId(), Version: p.version(), Move: &pb.MoveRequest_Direction{Direction: d},
			})
			require.NoError(t, err)
			p.last = moved.GetEvent()
			break
		}
	}
}

// resign ends the game.
func (p *player) resign(t *testing.T) {
	t.Helper()
	resigned, err := p.games.Resign(p.ctx, &pb.ResignRequest{GameId: p.game.GetId()})
	require.NoError(t, err)
	p.last = resigned.GetEvent()
}

// transcript returns all events of the finished game, by gRPC.
func (p *player) transcript(t *testing.T) []*pb.Event {
	t.Helper()
	from := int32(0)
	stream, err := p.games.Watch(p.ctx, &pb.WatchRequest{GameId: p.game.GetId(), AfterVersion: &from, EveryEvent: true})
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

// reader is a connection that a game's events are read from.
type reader struct {
	conn   net.Conn
	answer *http.Response
	body   *bufio.Reader
	retry  int // milliseconds, as the server hinted
}

// record is one of a stream.
type record struct {
	id     string
	name   string // of the event, empty for most
	data   string
	update *pb.WatchResponse
}

// read sends a request for events; headers are "Name: value".
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

// tryRead returns nil if the connection ends before the answer.
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
	return &reader{conn: conn, answer: answer, body: bufio.NewReader(answer.Body)}
}

// next returns the next record. The error is that of the connection.
func (r *reader) next() (record, error) {
	var got record
	for {
		line, err := r.body.ReadString('\n')
		if err != nil {
			return record{}, err
		}
		name, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ": ")
		switch name {
		case "id":
			got.id = value
		case "event":
			got.name = value
		case "retry":
			r.retry, _ = strconv.Atoi(value)
		case "data":
			got.data = value
		case "":
			if got.data == "" {
				continue
			}
			if got.name == "" {
				got.update = &pb.WatchResponse{}
				err = protojson.Unmarshal([]byte(got.data), got.update)
			}
			return got, err
		default:
			return record{}, fmt.Errorf("a line %q", line)
		}
	}
}

// must returns the next record that is not of the audience.
func (r *reader) must(t *testing.T) record {
	t.Helper()
	for {
		got, err := r.next()
		require.NoError(t, err)
		if _, audience := got.update.GetUpdate().(*pb.WatchResponse_Audience); !audience {
			return got
		}
	}
}

// audience waits until the audience has a size.
func (r *reader) audience(t *testing.T, size int32) {
	t.Helper()
	for {
		got, err := r.next()
		require.NoError(t, err)
		if a, ok := got.update.GetUpdate().(*pb.WatchResponse_Audience); ok {
			require.Empty(t, got.id)
			if a.Audience == size {
				return
			}
		}
	}
}

// rest returns what is left of the answer.
func (r *reader) rest(t *testing.T) string {
	t.Helper()
	all, err := io.ReadAll(r.body)
	require.NoError(t, err)
	return string(all)
}

var classic = &pb.CreateGameRequest{Variant: "classic"}
