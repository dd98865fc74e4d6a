//go:build slow

package web_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/metadata"

	playertest "github.com/gridstand/gridstand/internal/testkit/player"
	servertest "github.com/gridstand/gridstand/internal/testkit/server"
	waittest "github.com/gridstand/gridstand/internal/testkit/wait"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
	"github.com/gridstand/gridstand/server"
)

// encrypted is a running server that has a separate HTTP listener with TLS and HTTP/2.
type encrypted struct {
	*server.Server
	config *tls.Config // for the server's clients
	grpc   *grpc.ClientConn
	player context.Context // context for calls, with a token
}

func startEncrypted(t *testing.T) encrypted {
	t.Helper()
	c := servertest.Config(t).Unlimited()
	c.Web, c.Metrics, c.Stall = "127.0.0.1:0", "127.0.0.1:0", time.Second
	c.TLSCert, c.TLSKey = servertest.Certificate(t)
	running, _ := servertest.Start(t, c)
	pem, err := os.ReadFile(c.TLSCert)
	require.NoError(t, err)
	pool := x509.NewCertPool()
	require.True(t, pool.AppendCertsFromPEM(pem))
	config := &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}
	conn, err := grpc.NewClient("passthrough:///"+running.Addr().String(), grpc.WithTransportCredentials(credentials.NewTLS(config)))
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	created, err := pb.NewPlayerServiceClient(conn).CreatePlayer(t.Context(), &pb.CreatePlayerRequest{Name: "Ada"})
	require.NoError(t, err)
	return encrypted{running, config, conn, metadata.AppendToOutgoingContext(t.Context(), "authorization", "Bearer "+created.GetToken())}
}

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

// Ensure that if a client reads nothing from an HTTP/2 connection for too long, its streams end and the
// connection is closed. A stream of Server-Sent Events used to stay open as long as its connection.
func TestHTTP2_Stalled(t *testing.T) {
	t.Parallel()
	// A stalled machine ends some streams early. The moves must fill all buffers even if one is left.
	const streams, moves = 200, 600
	s := startEncrypted(t)
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
	// If the machine stalls for a second, the server may close the connection. All streams must use the
	// same one, because fewer streams do not fill its buffers.
	address := "https://" + s.WebAddr().String() + "/g/" + g.GetId() + "/events?every_event=1"
	for open, used := 0, int32(0); open < streams; open++ {
		request, err := http.NewRequestWithContext(waittest.Context(t), http.MethodGet, address, http.NoBody)
		require.NoError(t, err)
		response, err := transport.RoundTrip(request)
		if err != nil {
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
		response, err := http.Get("http://" + s.MetricsAddr().String() + "/metrics")
		require.NoError(t, err)
		defer response.Body.Close()
		metrics, err := io.ReadAll(response.Body)
		require.NoError(t, err)
		return strings.Contains(string(metrics), "\ngridstand_streams 0\n") && strings.Contains(string(metrics), "\ngridstand_connections 1\n")
	}
	for made := 0; made < moves && (made%50 > 0 || !ended()); made++ {
		moved, err := games.Move(s.player, playertest.Slide(g))
		require.NoError(t, err)
		playertest.Apply(g, moved.GetEvent())
	}
	waittest.Until(t, "the streams have ended, and only the gRPC connection is open", ended)
}
