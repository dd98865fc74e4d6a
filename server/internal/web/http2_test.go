package web_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	connecttest "github.com/gridstand/gridstand/internal/testkit/connect"
	servertest "github.com/gridstand/gridstand/internal/testkit/server"
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

func startEncrypted(t *testing.T, stall time.Duration) encrypted {
	t.Helper()
	c := servertest.Config(t).Unlimited()
	c.Web, c.Metrics, c.Stall = "127.0.0.1:0", "127.0.0.1:0", stall
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

// Ensure that a separate HTTP listener supports every protocol over HTTP/2, and that
// streams that share a connection may be idle for longer than Stall.
func TestHTTP2(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("waits for seconds")
	}
	const stall = 3 * time.Second
	s := startEncrypted(t, stall)
	ctx := s.player
	for _, protocol := range connecttest.Protocols() {
		t.Run(protocol, func(t *testing.T) {
			t.Parallel()
			games := pb.NewGameServiceClient(connecttest.DialTLS(t, s.WebAddr(), protocol, s.config))
			created, err := games.CreateGame(ctx, &pb.CreateGameRequest{Variant: "classic"})
			require.NoError(t, err)
			g := created.GetGame()
			var streams []grpc.ServerStreamingClient[pb.WatchResponse]
			for range 3 {
				stream, err := games.Watch(ctx, &pb.WatchRequest{GameId: g.GetId(), AfterVersion: &g.Version})
				require.NoError(t, err)
				streams = append(streams, stream)
			}
			// Make calls that fail while the streams are idle.
			for began := time.Now(); time.Since(began) < stall*5/2; <-time.After(100 * time.Millisecond) {
				_, err = games.GetGame(ctx, &pb.GetGameRequest{GameId: "x"})
				require.Equal(t, codes.NotFound, status.Code(err), "%v", err)
				require.Len(t, status.Convert(err).Details(), 1)
			}
			_, err = games.Move(ctx, &pb.MoveRequest{GameId: g.GetId(), Version: 1, Move: &pb.MoveRequest_Direction{
				Direction: g.GetPosition().GetTwenty48().GetLegalMoves()[0],
			}})
			require.NoError(t, err)
			for _, stream := range streams {
				for {
					update, err := stream.Recv()
					require.NoError(t, err)
					if update.GetEvent() != nil {
						assert.EqualValues(t, 2, update.GetEvent().GetVersion())
						break
					}
				}
			}
		})
	}
}
