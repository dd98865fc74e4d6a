package web_test

import (
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	playertest "github.com/gridstand/gridstand/internal/testkit/player"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// freezing is a connection on which reads block from the time that frozen is closed until
// thawed is closed.
type freezing struct {
	net.Conn
	frozen, thawed chan struct{}
}

// Read implements net.Conn.
func (f *freezing) Read(b []byte) (int, error) {
	select {
	case <-f.frozen:
		<-f.thawed
	default:
	}
	return f.Conn.Read(b)
}

// Ensure that if a client reads nothing from an HTTP/2 connection for too long, its
// streams end in every protocol and the connection is closed. A stream of Server-Sent
// Events used to stay open as long as its connection.
func TestHTTP2_Stalled(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("waits for seconds")
	}
	// A stalled machine ends some streams early. The moves must fill all buffers even if one is left.
	const streams, moves = 200, 600
	for _, kind := range []string{"events", "connect+json", "grpc-web+json"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			s := startEncrypted(t, time.Second)
			games := pb.NewGameServiceClient(s.grpc)
			created, err := games.CreateGame(s.player, &pb.CreateGameRequest{Variant: "6x6"})
			require.NoError(t, err)
			g := created.GetGame()
			frozen, thawed := make(chan struct{}), make(chan struct{})
			t.Cleanup(func() { close(thawed) })
			var dialed atomic.Int32
			transport := &http.Transport{
				TLSClientConfig: s.config.Clone(), ForceAttemptHTTP2: true,
				DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
					dialed.Add(1)
					conn, err := (&net.Dialer{}).DialContext(ctx, network, address)
					if err != nil {
						return nil, err
					}
					return &freezing{conn, frozen, thawed}, conn.(*net.TCPConn).SetReadBuffer(4 << 10)
				},
			}
			// If the machine stalls for a second, the server may close the connection. All streams must
			// use the same one, because fewer streams do not fill its buffers.
			for open, used, deadline := 0, int32(0), time.Now().Add(patience); open < streams; open++ {
				response, err := transport.RoundTrip(s.watch(t, g.GetId(), kind))
				if err != nil {
					require.True(t, time.Now().Before(deadline), "%v", err)
					open = -1
					continue
				}
				require.Equal(t, http.StatusOK, response.StatusCode)
				require.Equal(t, 2, response.ProtoMajor)
				t.Cleanup(func() { _ = response.Body.Close() })
				if n := dialed.Load(); n != used {
					open, used = 0, n
				}
			}
			close(frozen)
			ended := func() bool {
				metrics := s.metrics(t)
				return strings.Contains(metrics, "\ngridstand_streams 0\n") && strings.Contains(metrics, "\ngridstand_connections 1\n")
			}
			for made := 0; made < moves && (made%50 > 0 || !ended()); made++ {
				moved, err := games.Move(s.player, playertest.Slide(g))
				require.NoError(t, err)
				playertest.Apply(g, moved.GetEvent())
			}
			eventually(t, "the streams have ended, and only the gRPC connection is open", ended)
		})
	}
}

// watch returns a request for every event of a game: as Server-Sent Events, or in the
// protocol that has the content type application/<kind>.
func (s encrypted) watch(t *testing.T, gameID, kind string) *http.Request {
	t.Helper()
	base := "https://" + s.WebAddr().String()
	if kind == "events" {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, base+"/g/"+gameID+"/events?every_event=1", http.NoBody)
		require.NoError(t, err)
		return request
	}
	message := `{"gameId":"` + gameID + `","everyEvent":true}`
	envelope := "\x00\x00\x00\x00" + string(rune(len(message)))
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, base+pb.GameService_Watch_FullMethodName, strings.NewReader(envelope+message))
	require.NoError(t, err)
	request.Header.Set("Content-Type", "application/"+kind)
	return request
}

// metrics returns the server's metrics in text form.
func (s encrypted) metrics(t *testing.T) string {
	t.Helper()
	response, err := http.Get("http://" + s.MetricsAddr().String() + "/metrics")
	require.NoError(t, err)
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	return string(body)
}
