package web_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	connecttest "github.com/gridstand/gridstand/internal/testkit/connect"
	servertest "github.com/gridstand/gridstand/internal/testkit/server"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
	"github.com/gridstand/gridstand/server"
)

const patience = time.Minute

// started is a running server.
type started struct {
	addr net.Addr
	base string
	log  *servertest.Log
	stop func()
}

func start(t *testing.T, changes ...func(*server.Config)) started {
	t.Helper()
	c := servertest.Config(t)
	log := &servertest.Log{}
	c.Logger = log.Logger()
	for _, change := range changes {
		change(&c)
	}
	running, stop := servertest.Start(t, c)
	t.Cleanup(func() { assert.NotContains(t, log.String(), "level=ERROR") })
	return started{running.Addr(), "http://" + running.Addr().String(), log, stop}
}

// do sends a request with headers, given as name and value in turns.
func (s started) do(t *testing.T, method, path, body string, headers ...string) (*http.Response, []byte) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, s.base+path, strings.NewReader(body))
	require.NoError(t, err)
	for i := 0; i < len(headers); i += 2 {
		if headers[i] == "Host" {
			request.Host = headers[i+1]
		}
		request.Header.Add(headers[i], headers[i+1])
	}
	transport := &http.Transport{DisableCompression: true, DisableKeepAlives: true}
	response, err := (&http.Client{Transport: transport}).Do(request)
	require.NoError(t, err)
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	return response, answer
}

var named atomic.Int32

// player creates an account, and returns a client and the account's token.
func (s started) player(t *testing.T) (games pb.GameServiceClient, token string) {
	t.Helper()
	conn := servertest.Dial(t, s.addr)
	created, err := pb.NewPlayerServiceClient(conn).CreatePlayer(t.Context(), &pb.CreatePlayerRequest{Name: fmt.Sprintf("Ada %d", named.Add(1))})
	require.NoError(t, err)
	return pb.NewGameServiceClient(conn), created.GetToken()
}

// game creates a game, and returns it with a function that moves in it.
func (s started) game(t *testing.T) (g *pb.Game, move func() *pb.Event) {
	t.Helper()
	games, token := s.player(t)
	ctx := metadata.AppendToOutgoingContext(t.Context(), "authorization", "Bearer "+token)
	created, err := games.CreateGame(ctx, &pb.CreateGameRequest{Variant: "6x6"})
	require.NoError(t, err)
	g = created.GetGame()
	version, position := g.GetVersion(), g.GetPosition()
	return g, func() *pb.Event {
		legal := position.GetTwenty48().GetLegalMoves()
		moved, err := games.Move(ctx, &pb.MoveRequest{GameId: g.GetId(), Version: version, Move: &pb.MoveRequest_Direction{Direction: legal[0]}})
		require.NoError(t, err)
		version, position = moved.GetEvent().GetVersion(), moved.GetEvent().GetPosition()
		return moved.GetEvent()
	}
}

const asJSON = "application/json"

// Ensure that what cannot be a call is answered with a sentence that says why.
func TestNotACall(t *testing.T) {
	t.Parallel()
	s := start(t)
	const list, watch = "/gridstand.v1.GameService/ListVariants", "/gridstand.v1.GameService/Watch"
	for name, test := range map[string]struct {
		method, path, kind string
		status             int
		code, says         string
	}{
		"unknown method":   {"POST", "/gridstand.v1.GameService/Cheat", asJSON, 404, "unimplemented", "there is no call /gridstand.v1.GameService/Cheat"},
		"unknown service":  {"POST", "/gridstand.v1.Nothing/Move", asJSON, 404, "unimplemented", "there is no call"},
		"unknown, read":    {"GET", "/gridstand.v2.GameService/Move", "", 404, "unimplemented", "there is no call"},
		"read":             {"GET", list, "", 405, "unimplemented", "calls are made with POST, not GET"},
		"options":          {"OPTIONS", list, "", 405, "unimplemented", "calls are made with POST, not OPTIONS"},
		"no type":          {"POST", list, "", 415, "invalid_argument", "application/json"},
		"a form":           {"POST", list, "application/x-www-form-urlencoded", 415, "invalid_argument", "application/json"},
		"type of a stream": {"POST", list, "application/connect+json", 415, "invalid_argument", "application/json"},
		"type of a call":   {"POST", watch, asJSON, 415, "invalid_argument", "GET /g/<id>/events"},
		"no JSON":          {"POST", list, asJSON, 400, "invalid_argument", "unmarshal"},
		"strange version":  {"POST", list, asJSON, 400, "invalid_argument", "Connect-Protocol-Version"},
	} {
		headers := []string{"Content-Type", test.kind}
		if name == "strange version" {
			headers = append(headers, "Connect-Protocol-Version", "2")
		}
		response, body := s.do(t, test.method, test.path, "{", headers...)
		assert.Equal(t, test.status, response.StatusCode, name)
		assert.Contains(t, response.Header.Get("Content-Type"), asJSON, name)
		var said struct{ Code, Message string }
		require.NoError(t, json.Unmarshal(body, &said), "%s: %s", name, body)
		assert.Equal(t, test.code, said.Code, name)
		assert.Contains(t, said.Message, test.says, name)
	}
	response, body := s.do(t, "HEAD", list, "")
	assert.Equal(t, 405, response.StatusCode)
	assert.Equal(t, "POST", response.Header.Get("Allow"))
	assert.Empty(t, body)
}

// Ensure that a call takes JSON however its type is written, and skips fields that a newer
// client may send.
func TestJSON(t *testing.T) {
	t.Parallel()
	s := start(t)
	for _, kind := range []string{asJSON, "application/json; charset=utf-8", "Application/JSON;charset=UTF-8"} {
		response, body := s.do(t, "POST", "/gridstand.v1.GameService/GetServerInfo", `{"fromTheFuture": [1]}`, "Content-Type", kind)
		assert.Equal(t, 200, response.StatusCode, kind)
		assert.Contains(t, string(body), `"gridstand"`, kind)
		assert.Equal(t, "no-store", response.Header.Get("Cache-Control"))
	}
}

// Ensure that large answers are compressed, small ones and streams are not.
func TestCompression(t *testing.T) {
	t.Parallel()
	s := start(t)
	accept := []string{"Content-Type", asJSON, "Accept-Encoding", "br, gzip"}
	plain, want := s.do(t, "POST", "/gridstand.v1.GameService/ListVariants", "{}", accept[:2]...)
	assert.Empty(t, plain.Header.Get("Content-Encoding"))
	packed, body := s.do(t, "POST", "/gridstand.v1.GameService/ListVariants", "{}", accept...)
	assert.Equal(t, "gzip", packed.Header.Get("Content-Encoding"))
	assert.Less(t, len(body), len(want))
	r, err := gzip.NewReader(bytes.NewReader(body))
	require.NoError(t, err)
	got, err := io.ReadAll(r)
	require.NoError(t, err)
	assert.JSONEq(t, string(want), string(got))

	small, _ := s.do(t, "POST", "/gridstand.v1.GameService/ListGames", "{}", accept...)
	assert.Equal(t, 200, small.StatusCode)
	assert.Empty(t, small.Header.Get("Content-Encoding"))
	refused, body := s.do(t, "POST", "/gridstand.v1.GameService/Watch", "", "Content-Type", "application/connect+json",
		"Connect-Content-Encoding", "gzip")
	assert.Equal(t, 200, refused.StatusCode)
	assert.Contains(t, string(body), `"unimplemented"`)
}

// Ensure that a small request cannot become a large one.
func TestCompression_Bomb(t *testing.T) {
	t.Parallel()
	s := start(t)
	pack := func(spaces int) string {
		var packed bytes.Buffer
		w := gzip.NewWriter(&packed)
		_, err := w.Write(append(bytes.Repeat([]byte{' '}, spaces), "{}"...))
		require.NoError(t, err)
		require.NoError(t, w.Close())
		return packed.String()
	}
	for spaces, want := range map[int]int{1000: 200, 100_000: 429, 3_000_000: 429} {
		bomb := pack(spaces)
		require.Less(t, len(bomb), 4096)
		response, body := s.do(t, "POST", "/gridstand.v1.GameService/ListVariants", bomb, "Content-Type", asJSON, "Content-Encoding", "gzip")
		assert.Equal(t, want, response.StatusCode, "%d: %s", spaces, body)
	}
}

// Ensure that errors of all protocols say when to retry, and that a stream ends with one
// when the server stops.
func TestWatch_ServerStops(t *testing.T) {
	t.Parallel()
	s := start(t)
	g, _ := s.game(t)
	var streams []interface {
		Recv() (*pb.WatchResponse, error)
		Trailer() metadata.MD
	}
	for _, protocol := range connecttest.Protocols() {
		stream, err := pb.NewGameServiceClient(connecttest.Dial(t, s.addr, protocol)).Watch(t.Context(), &pb.WatchRequest{GameId: g.GetId()})
		require.NoError(t, err)
		_, err = stream.Recv()
		require.NoError(t, err)
		streams = append(streams, stream)
	}
	s.stop()
	for i, stream := range streams {
		var err error
		for err == nil {
			_, err = stream.Recv()
		}
		assert.Equal(t, codes.Unavailable, status.Code(err), "%s: %v", connecttest.Protocols()[i], err)
		assert.Equal(t, []string{"1"}, stream.Trailer().Get("Retry-After"), connecttest.Protocols()[i])
		assert.Equal(t, []string{"500"}, stream.Trailer().Get("grpc-retry-pushback-ms"), connecttest.Protocols()[i])
	}
}

// Ensure that a call that is refused before it reaches a handler is answered in the form
// of its protocol.
func TestRefused(t *testing.T) {
	t.Parallel()
	s := start(t, func(c *server.Config) { c.Limits.StreamsPerAddress = 1 })
	g, _ := s.game(t)
	watching, err := pb.NewGameServiceClient(servertest.Dial(t, s.addr)).Watch(t.Context(), &pb.WatchRequest{GameId: g.GetId()})
	require.NoError(t, err)
	_, err = watching.Recv()
	require.NoError(t, err)
	for _, protocol := range connecttest.Protocols() {
		games := pb.NewGameServiceClient(connecttest.Dial(t, s.addr, protocol))
		_, called := games.GetServerInfo(t.Context(), &pb.GetServerInfoRequest{})
		stream, err := games.Watch(t.Context(), &pb.WatchRequest{GameId: g.GetId()})
		require.NoError(t, err)
		_, watched := stream.Recv()
		for _, err := range []error{called, watched} {
			assert.Equal(t, codes.ResourceExhausted, status.Code(err), "%s: %v", protocol, err)
			assert.Len(t, status.Convert(err).Details(), 2, "%s: %v", protocol, err)
		}
	}
}
