package client_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"

	"github.com/gridstand/gridstand/client"
	tlstest "github.com/gridstand/gridstand/internal/testkit/tls"
	waittest "github.com/gridstand/gridstand/internal/testkit/wait"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

func TestTLS(t *testing.T) {
	t.Parallel()
	authority := tlstest.NewAuthority(t)
	file := authority.File
	certFile, keyFile := authority.Issue(t)
	cert, err := credentials.NewServerTLSFromFile(certFile, keyFile)
	require.NoError(t, err)
	secure := grpc.Creds(cert)
	one, other, plain := (&fake{}).start(t, secure), (&fake{}).start(t, secure), (&fake{}).start(t)
	elsewhere := client.Config{Target: one, CAFile: file, DialOptions: []grpc.DialOption{grpc.WithAuthority("elsewhere")}}
	for name, tc := range map[string]struct {
		config client.Config
		want   error
		cause  client.Cause
	}{
		"a private authority":          {client.Config{Target: one, CAFile: file}, nil, client.CauseUnknown},
		"several servers":              {client.Config{Target: one + "," + other, TLS: true, CAFile: file}, nil, client.CauseUnknown},
		"an unknown authority":         {client.Config{Target: one, TLS: true}, client.ErrUnreachable, client.CauseUntrusted},
		"not encrypted by mistake":     {client.Config{Target: one}, client.ErrUnreachable, client.CauseNoPlainText},
		"another server's certificate": {elsewhere, client.ErrUnreachable, client.CauseUntrusted},
		"encrypted by mistake":         {client.Config{Target: plain, TLS: true}, client.ErrUnreachable, client.CauseNoTLS},
	} {
		c := dial(t, tc.config)
		_, err := c.Games.GetServerInfo(waittest.Context(t), &pb.GetServerInfoRequest{})
		if tc.want == nil {
			require.NoError(t, err, name)
			continue
		}
		assert.ErrorIs(t, err, tc.want, name)
		assert.Equal(t, tc.cause, client.CauseOf(err), name)

		w := c.Watch(waittest.Context(t), client.WatchOptions{GameID: client.NewSecret()})
		u, err := w.Next()
		w.Close()
		require.NoError(t, err, name)
		assert.Equal(t, client.Reconnecting, u.Connection.State, "%s: the Watch should keep trying", name)
		assert.ErrorIs(t, u.Connection.Err, client.ErrUnreachable, name)
		assert.Equal(t, tc.cause, client.CauseOf(u.Connection.Err), "%s: the first failure should have the cause", name)
	}
}

// Ensure that a server that has answered before is not mistaken for one that requires TLS
// when a tunnel or a proxy still accepts connections for it.
func TestTLS_NotAfterAll(t *testing.T) {
	t.Parallel()
	for name, speak := range map[string]func(*testing.T, *client.Client){
		"call": func(t *testing.T, c *client.Client) {
			_, err := c.Games.GetServerInfo(waittest.Context(t), &pb.GetServerInfoRequest{})
			require.NoError(t, err)
		},
		"stream": func(t *testing.T, c *client.Client) {
			w := c.Watch(waittest.Context(t), client.WatchOptions{GameID: gameID})
			defer w.Close()
			_, err := w.Next()
			require.NoError(t, err)
		},
		"refused": func(t *testing.T, c *client.Client) {
			_, err := c.Games.GetGame(waittest.Context(t), &pb.GetGameRequest{GameId: gameID})
			require.ErrorIs(t, err, client.ErrGameNotFound)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := &fake{
				watch: func(_ int, _ *pb.WatchRequest, s watchStream) error {
					return s.Send(&pb.WatchResponse{Update: &pb.WatchResponse_Game{Game: gameAt(1)}})
				},
				getGame: func(int, *pb.GetGameRequest) (*pb.Game, error) {
					return nil, refuse(codes.NotFound, pb.ReasonGameNotFound)
				},
			}
			c := f.client(t)
			speak(t, c)
			f.listener.leave()
			ask := func() error {
				_, err := c.Games.GetServerInfo(waittest.Context(t), &pb.GetServerInfoRequest{})
				return err
			}
			for {
				err := ask()
				require.ErrorIs(t, err, client.ErrUnreachable)
				require.Equal(t, client.CauseUnknown, client.CauseOf(err), err)
				if strings.Contains(err.Error(), "preface") {
					return
				}
			}
		})
	}
}
