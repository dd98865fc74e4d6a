package web_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	connecttest "github.com/gridstand/gridstand/internal/testkit/connect"
	"github.com/gridstand/gridstand/internal/testkit/longtest"
	servertest "github.com/gridstand/gridstand/internal/testkit/server"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
	"github.com/gridstand/gridstand/server"
)

// eventually waits until a condition is true.
func eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); !is(); <-time.After(10 * time.Millisecond) {
		require.True(t, time.Now().Before(deadline), "timed out waiting for: %s", what)
	}
}

// watchers returns the number of watchers that a game has.
func (s started) watchers(t *testing.T, id string) int32 {
	t.Helper()
	got, err := pb.NewGameServiceClient(servertest.Dial(t, s.addr)).GetGame(t.Context(), &pb.GetGameRequest{GameId: id})
	require.NoError(t, err)
	return got.GetGame().GetWatchers()
}

// Ensure that a stream ends when its client disconnects, and at its deadline.
func TestWatch_Ends(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("too slow for -short")
	}
	s := start(t)
	for _, protocol := range connecttest.Protocols() {
		t.Run(protocol, func(t *testing.T) {
			t.Parallel()
			g, _ := s.game(t)
			games := pb.NewGameServiceClient(connecttest.Dial(t, s.addr, protocol))
			ctx, disconnect := context.WithCancel(t.Context())
			defer disconnect()
			stream, err := games.Watch(ctx, &pb.WatchRequest{GameId: g.GetId()})
			require.NoError(t, err)
			_, err = stream.Recv()
			require.NoError(t, err)
			eventually(t, "the watcher counts", func() bool { return s.watchers(t, g.GetId()) == 1 })
			disconnect()
			eventually(t, "the watcher has left", func() bool { return s.watchers(t, g.GetId()) == 0 })

			ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
			defer cancel()
			stream, err = games.Watch(ctx, &pb.WatchRequest{GameId: g.GetId()})
			for err == nil { // On a busy machine the deadline may pass before the call begins.
				_, err = stream.Recv()
			}
			assert.Equal(t, codes.DeadlineExceeded, status.Code(err), "%v", err)
			eventually(t, "the watcher has left at its deadline", func() bool { return s.watchers(t, g.GetId()) == 0 })
		})
	}
}

// Ensure that the server enforces the client's deadline for a stream even if the client
// does not.
func TestWatch_Deadline_long(t *testing.T) {
	longtest.Skip(t)
	t.Parallel()
	s := start(t)
	g, _ := s.game(t)
	message := fmt.Sprintf(`{"gameId":%q}`, g.GetId())
	frame := string([]byte{0, 0, 0, 0, byte(len(message))}) + message
	for header, kind := range map[string]string{"Connect-Timeout-Ms: %d000": "connect+json", "Grpc-Timeout: %dS": "grpc-web+json"} {
		_, body := s.watchUntil(t, header, frame, kind)
		assert.Contains(t, string(body), `"game":`, kind)
		assert.Regexp(t, `deadline_exceeded|grpc-status: 4`, string(body), kind)
	}
}

// watchUntil watches a game, with a header that sets a deadline in seconds, and returns the response
// with its body. On a busy machine, a short deadline may pass before the server sends the game, so
// watchUntil extends it.
func (s started) watchUntil(t *testing.T, header, request, kind string) (*http.Response, []byte) {
	t.Helper()
	for seconds := 1; seconds < int(patience.Seconds()); seconds *= 4 {
		name, value, _ := strings.Cut(fmt.Sprintf(header, seconds), ": ")
		response, body := s.do(t, "POST", "/gridstand.v1.GameService/Watch", request, "Content-Type", "application/"+kind, name, value)
		if len(body) > 200 { // a game, and not only an error
			return response, body
		}
	}
	require.Fail(t, "the stream has no game", kind)
	return nil, nil
}

// Ensure that a client that resumes learns that its stream is open before there is an
// event.
func TestWatch_Opens(t *testing.T) {
	t.Parallel()
	s := start(t)
	g, move := s.game(t)
	message := fmt.Sprintf(`{"gameId":%q,"afterVersion":1}`, g.GetId())
	frame := string([]byte{0, 0, 0, 0, byte(len(message))}) + message
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, s.base+"/gridstand.v1.GameService/Watch", strings.NewReader(frame))
	require.NoError(t, err)
	request.Header.Set("Content-Type", "application/connect+json")
	response, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(request)
	require.NoError(t, err)
	defer response.Body.Close()
	assert.Equal(t, 200, response.StatusCode)
	move()
	text := make([]byte, 1)
	_, err = io.ReadFull(response.Body, text)
	require.NoError(t, err)
}

// smallBuffers is a listener that gives its connections small send buffers.
type smallBuffers struct{ net.Listener }

func (l smallBuffers) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err == nil {
		err = conn.(*net.TCPConn).SetWriteBuffer(4 << 10)
	}
	return conn, err
}

// Ensure that a client that reads nothing loses its stream and its connection, whereas a
// client whose game merely has no events for the same time keeps both.
func TestWatch_Stalled_long(t *testing.T) {
	longtest.Skip(t)
	t.Parallel()
	s := start(t, func(c *server.Config) {
		*c = c.Unlimited()
		c.Stall = 3 * time.Second
		inner, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", c.Listen)
		require.NoError(t, err)
		c.Listener = smallBuffers{inner}
	})
	g, move := s.game(t)
	quiet, _ := s.game(t)
	patient, err := pb.NewGameServiceClient(connecttest.Dial(t, s.addr, connecttest.JSON)).Watch(t.Context(), &pb.WatchRequest{GameId: quiet.GetId()})
	require.NoError(t, err)
	_, err = patient.Recv()
	require.NoError(t, err)

	dialer := net.Dialer{}
	conn, err := dialer.DialContext(t.Context(), "tcp", s.addr.String())
	require.NoError(t, err)
	defer conn.Close()
	require.NoError(t, conn.(*net.TCPConn).SetReadBuffer(4<<10))
	// Request every event. Otherwise, on a busy machine, the client could be sent the
	// current game instead of many events.
	message := fmt.Sprintf(`{"gameId":%q,"everyEvent":true}`, g.GetId())
	_, err = fmt.Fprintf(conn, "POST /gridstand.v1.GameService/Watch HTTP/1.1\r\nHost: x\r\nContent-Type: application/connect+json\r\n"+
		"Content-Length: %d\r\n\r\n\x00\x00\x00\x00%c%s", 5+len(message), len(message), message)
	require.NoError(t, err)
	head, err := bufio.NewReaderSize(conn, 16).ReadString('\n')
	require.NoError(t, err)
	require.Contains(t, head, "200 OK")
	for range 200 { // enough data to fill all buffers
		move()
	}
	eventually(t, "the reader is gone", func() bool { return s.watchers(t, g.GetId()) == 0 })
	require.NoError(t, conn.SetReadDeadline(time.Now().Add(patience)))
	_, err = io.Copy(io.Discard, conn)
	if err != nil {
		assert.NotErrorIs(t, err, context.DeadlineExceeded, "the connection is open")
	}
	assert.EqualValues(t, 1, s.watchers(t, quiet.GetId()))
}
