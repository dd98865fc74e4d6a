package web_test

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/binary"
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
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	playertest "github.com/gridstand/gridstand/internal/testkit/player"
	servertest "github.com/gridstand/gridstand/internal/testkit/server"
	waittest "github.com/gridstand/gridstand/internal/testkit/wait"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
	"github.com/gridstand/gridstand/server"
)

// started is a running server with its addresses and log.
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

// do sends a request and returns the response with its body. headers contains names and
// values alternately.
func (s started) do(t *testing.T, method, path, body string, headers ...string) (*http.Response, []byte) {
	t.Helper()
	transport := &http.Transport{DisableCompression: true}
	response, answer, err := servertest.Do(t, transport, method, s.base+path, body, headers...)
	require.NoError(t, err)
	return response, []byte(answer)
}

// raw sends bytes over a connection of its own and returns the response.
func (s started) raw(t *testing.T, request string) *http.Response {
	t.Helper()
	conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", s.addr.String())
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	require.NoError(t, conn.SetDeadline(time.Now().Add(waittest.Patience)))
	_, err = io.WriteString(conn, request)
	require.NoError(t, err)
	response, err := http.ReadResponse(bufio.NewReader(conn), nil)
	require.NoError(t, err)
	t.Cleanup(func() { _ = response.Body.Close() })
	return response
}

var named atomic.Int32

// player creates an account and returns its player.
func (s started) player(t *testing.T) *playertest.Player {
	t.Helper()
	return playertest.New(t.Context(), t, servertest.Dial(t, s.addr), fmt.Sprintf("Ada %d", named.Add(1)))
}

const asJSON = "application/json"

// Ensure that the response to a malformed call explains what is wrong with it.
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
		"wrong slash":      {"POST", "/gridstand.v1/GameService.Move", asJSON, 404, "unimplemented", "there is no call"},
		"unknown, read":    {"GET", "/gridstand.v2.GameService/Move", "", 404, "unimplemented", "there is no call"},
		"read":             {"GET", list, "", 405, "unimplemented", "calls must use POST, not GET"},
		"options":          {"OPTIONS", list, "", 405, "unimplemented", "calls must use POST, not OPTIONS"},
		"no type":          {"POST", list, "", 415, "invalid_argument", "not none"},
		"a form":           {"POST", list, "application/x-www-form-urlencoded", 415, "invalid_argument", "application/json"},
		"base64":           {"POST", list, "application/grpc-web-text", 415, "invalid_argument", asJSON},
		"two types":        {"POST", list, asJSON + ", " + asJSON, 415, "invalid_argument", "not application/json, application/json"},
		"type of a stream": {"POST", list, "application/connect+json", 415, "invalid_argument", "application/json"},
		"type of a call":   {"POST", watch, asJSON, 415, "invalid_argument", "GET /g/<id>/events"},
		"no JSON":          {"POST", list, asJSON, 400, "invalid_argument", "unmarshal"},
		"post for events":  {"POST", "/g/x/events", asJSON, 405, "unimplemented", "events are read with GET, not POST"},
		"no id":            {"GET", "/g//events", "", 404, "not_found", "an id is missing in /g//events"},
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

// Ensure that a body whose encoding is malformed is reported as the client's mistake.
func TestMalformedBody(t *testing.T) {
	t.Parallel()
	s := start(t)
	const chunked = "Transfer-Encoding: chunked"
	for name, test := range map[string]struct{ kind, header, body string }{
		"length of a chunk":          {asJSON, chunked, "zz\r\n{}\r\n0\r\n\r\n"},
		"end of a chunk":             {asJSON, chunked, "2\r\n{}xx\r\n0\r\n\r\n"},
		"trailer":                    {asJSON, chunked, "2\r\n{}\r\n0\r\nnothing\r\n\r\n"},
		"protobuf":                   {"application/proto", chunked, "zz\r\n"},
		"prefix of a gRPC-Web call":  {"application/grpc-web", chunked, "zz\r\n"},
		"message of a gRPC-Web call": {"application/grpc-web", chunked, "5\r\n\x00\x00\x00\x00\x04\r\nzz\r\n"},
	} {
		response := s.raw(t, fmt.Sprintf("POST /gridstand.v1.GameService/ListVariants HTTP/1.1\r\nHost: gridstand\r\nContent-Type: %s\r\n%s\r\n\r\n%s",
			test.kind, test.header, test.body))
		body, err := io.ReadAll(response.Body)
		require.NoError(t, err, name)
		if strings.HasPrefix(test.kind, "application/grpc-web") {
			assert.Equal(t, "3", response.Header.Get("Grpc-Status"), name) // INVALID_ARGUMENT
			continue
		}
		assert.Equal(t, http.StatusBadRequest, response.StatusCode, name)
		assert.Contains(t, string(body), `"code":"invalid_argument","message":"malformed request body: `, name)
	}
}

// Ensure that a call accepts JSON no matter how the content type is written, and that
// field names may be in camel case or snake case.
func TestJSON(t *testing.T) {
	t.Parallel()
	s := start(t)
	for _, kind := range []string{asJSON, "application/json; charset=utf-8", "Application/JSON;charset=UTF-8"} {
		response, body := s.do(t, "POST", "/gridstand.v1.GameService/GetServerInfo", `{}`, "Content-Type", kind)
		assert.Equal(t, 200, response.StatusCode, kind)
		assert.Contains(t, string(body), `"gridstand"`, kind)
		assert.Equal(t, "no-store", response.Header.Get("Cache-Control"))
	}
	for _, request := range []string{
		`{"status": "GAME_STATUS_ACTIVE", "pageSize": 1}`, `{"status": 2, "page_size": 1}`, `{"status": null, "pageSize": "1"}`,
	} {
		response, body := s.do(t, "POST", "/gridstand.v1.GameService/ListGames", request, "Content-Type", asJSON)
		assert.Equal(t, 200, response.StatusCode, "%s: %s", request, body)
	}
}

// Ensure that a JSON request with an unknown field, an unknown enum value or a value of the
// wrong type is refused, that the error names it, and that nothing happens.
func TestJSON_Invalid(t *testing.T) {
	t.Parallel()
	s := start(t)
	token := "Bearer " + s.player(t).Token
	const asStream = "application/connect+json"
	for _, tt := range []struct{ method, kind, request, says string }{
		{"GameService/ListGames", asJSON, `{"status": "ACTIVE"}`, `"ACTIVE"`},
		{"GameService/CreateGame", asJSON, `{"variant": "classic", "privat": true}`, `unknown field "privat"`},
		{"GameService/CreateGame", asJSON, `{"variant": "tribolo", "seats": [{}, {"bots": "x"}]}`, `unknown field "bots"`},
		{"GameService/CreateGame", asJSON, `{"variant": "classic", "private": "yes"}`, `bool field private: "yes"`},
		{"GameService/Watch", asStream, "\x00\x00\x00\x00\x1d" + `{"gameId": "x", "after": "1"}`, `unknown field \"after\"`},
		{"GameService/GetGame", asJSON, `{"gameId": "x", "game_id": "y"}`, `duplicate field "game_id"`},
		{"GameService/Move", asJSON, `{"gameId": "x", "direction": "DIRECTION_UP", "cell": {}}`, `"cell"`},
		{"GameService/GetGame", asJSON, `[]`, `unexpected token [`},
		{"GameService/GetGame", asJSON, `{"gameId": "x"`, `unexpected EOF`},
		{"GameService/GetServerInfo", asJSON, ``, `a request without fields is {}`},
	} {
		response, body := s.do(t, "POST", "/gridstand.v1."+tt.method, tt.request, "Content-Type", tt.kind, "Authorization", token)
		if tt.kind == asStream {
			assert.Contains(t, string(body), `"code":"invalid_argument"`, tt.request)
			assert.Contains(t, string(body), tt.says, tt.request)
			continue
		}
		assert.Equal(t, 400, response.StatusCode, tt.request)
		var said struct{ Code, Message string }
		require.NoError(t, json.Unmarshal(body, &said), "%s: %q", tt.request, body)
		assert.Equal(t, "invalid_argument", said.Code, tt.request)
		assert.Contains(t, said.Message, tt.says, tt.request)
	}
	games, err := pb.NewGameServiceClient(servertest.Dial(t, s.addr)).ListGames(t.Context(), &pb.ListGamesRequest{})
	require.NoError(t, err)
	assert.Empty(t, games.GetGames(), "a refused request created a game")
}

// Ensure that unknown fields of a binary request are ignored, so that newer clients can call
// older servers.
func TestBinary_Unknown(t *testing.T) {
	t.Parallel()
	s := start(t)
	request := string(protowire.AppendVarint(protowire.AppendTag(nil, 1000, protowire.VarintType), 1))
	response, _ := s.do(t, "POST", "/gridstand.v1.GameService/GetServerInfo", request, "Content-Type", "application/proto")
	assert.Equal(t, 200, response.StatusCode)
}

// Ensure that large responses are compressed, and that small responses and streams are
// not.
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

// Ensure that a small compressed request cannot be expanded into a large one.
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
	for spaces, want := range map[int]int{1000: 200, 100_000: 400, 3_000_000: 400} {
		bomb := pack(spaces)
		require.Less(t, len(bomb), 4096)
		response, body := s.do(t, "POST", "/gridstand.v1.GameService/ListVariants", bomb, "Content-Type", asJSON, "Content-Encoding", "gzip")
		assert.Equal(t, want, response.StatusCode, "%d: %s", spaces, body)
		assert.Equal(t, want == 400, strings.Contains(string(body), pb.ReasonMessageTooLarge), "%s", body)
	}
}

// Ensure that the server ends a stream at the deadline that its client has set, even if the client does
// not.
func TestWatch_Deadline(t *testing.T) {
	t.Parallel()
	s := start(t)
	message := fmt.Sprintf(`{"gameId":%q}`, s.player(t).Create(t, &pb.CreateGameRequest{Variant: "classic"}).GetId())
	frame := "\x00\x00\x00\x00" + string(rune(len(message))) + message
	for kind, header := range map[string]string{"connect+json": "Connect-Timeout-Ms 1", "grpc-web+json": "Grpc-Timeout 1m"} {
		name, value, _ := strings.Cut(header, " ")
		response, body := s.do(t, "POST", "/gridstand.v1.GameService/Watch", frame, "Content-Type", "application/"+kind, name, value)
		assert.Regexp(t, `deadline_exceeded|grpc-status: 4|^4$`, string(body)+response.Header.Get("Grpc-Status"), kind)
	}
}

// Ensure that a client that resumes learns that its stream is open before there is an event, and then
// gets the event in the encoding of its request.
func TestWatch_Opens(t *testing.T) {
	t.Parallel()
	s := start(t)
	p := s.player(t)
	for _, kind := range []string{"connect+json", "Connect+JSON", "connect+proto", "grpc-web+json", "grpc-web+proto", "grpc-web", "grpc+json"} {
		g := p.Create(t, &pb.CreateGameRequest{Variant: "6x6"})
		marshal, unmarshal := proto.Marshal, proto.Unmarshal
		if strings.HasSuffix(strings.ToLower(kind), "json") {
			marshal, unmarshal = protojson.Marshal, protojson.Unmarshal
		}
		message, err := marshal(&pb.WatchRequest{GameId: g.GetId(), AfterVersion: new(int32(1))})
		require.NoError(t, err)
		frame := "\x00\x00\x00\x00" + string(rune(len(message))) + string(message)
		request, err := http.NewRequestWithContext(waittest.Context(t), http.MethodPost, s.base+"/gridstand.v1.GameService/Watch", strings.NewReader(frame))
		require.NoError(t, err)
		request.Header.Set("Content-Type", "application/"+kind)
		response, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(request)
		require.NoError(t, err)
		assert.Equal(t, 200, response.StatusCode)
		p.Move(t, g)
		var got pb.WatchResponse
		for got.GetEvent() == nil { // An audience may come first.
			head := make([]byte, 5)
			_, err = io.ReadFull(response.Body, head)
			require.NoError(t, err)
			data := make([]byte, binary.BigEndian.Uint32(head[1:]))
			_, err = io.ReadFull(response.Body, data)
			require.NoError(t, err)
			require.NoError(t, unmarshal(data, &got), kind)
		}
		assert.EqualValues(t, 2, got.GetEvent().GetVersion(), kind)
		require.NoError(t, response.Body.Close())
	}
}

// Ensure that the first line and the headers of a request may have 16 kB, and that the server refuses a
// request without reading more of it.
func TestHeaders_Size(t *testing.T) {
	t.Parallel()
	const most = 16 << 10
	const begin, end = "GET /apple-touch-icon.png HTTP/1.1\r\nHost: a\r\nA: ", "\r\n\r\n"
	s := start(t)
	for last, want := range map[string]int{
		end:    http.StatusOK,
		"aaaa": http.StatusRequestHeaderFieldsTooLarge, // The end of the headers would follow.
	} {
		response := s.raw(t, begin+strings.Repeat("a", most-len(begin)-len(last))+last)
		assert.Equal(t, want, response.StatusCode)
	}
}
