package session_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"

	"github.com/gridstand/gridstand/client/session"
	"github.com/gridstand/gridstand/internal/tlstest"
	"github.com/gridstand/gridstand/internal/unreachable"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

func TestTLS(t *testing.T) {
	t.Parallel()
	authority := tlstest.NewAuthority(t)
	file := authority.File
	certFile, keyFile := tlstest.Files(t)
	authority.Issue(t, "server", certFile, keyFile)
	cert, err := credentials.NewServerTLSFromFile(certFile, keyFile)
	require.NoError(t, err)
	secure := grpc.Creds(cert)
	one, other, plain := (&fake{}).start(t, secure), (&fake{}).start(t, secure), (&fake{}).start(t)
	elsewhere := session.Config{Target: one, CAFile: file, DialOptions: []grpc.DialOption{grpc.WithAuthority("elsewhere")}}
	for name, tc := range map[string]struct {
		config session.Config
		want   error
		cause  unreachable.Cause
	}{
		"an authority of one's own":  {session.Config{Target: one, CAFile: file}, nil, unreachable.Unknown},
		"several servers":            {session.Config{Target: one + "," + other, TLS: true, CAFile: file}, nil, unreachable.Unknown},
		"an authority not known":     {session.Config{Target: one, TLS: true}, session.ErrUnreachable, unreachable.Untrusted},
		"not encrypted by mistake":   {session.Config{Target: one}, session.ErrUnreachable, unreachable.NoPlainText},
		"another than was asked for": {elsewhere, session.ErrUnreachable, unreachable.Untrusted},
		"encrypted by mistake":       {session.Config{Target: plain, TLS: true}, session.ErrUnreachable, unreachable.NoTLS},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := dial(t, tc.config)
			_, err := c.Games.GetServerInfo(within(t), &pb.GetServerInfoRequest{})
			if tc.want == nil {
				require.NoError(t, err)
				return
			}
			assert.ErrorIs(t, err, tc.want)
			assert.Equal(t, tc.cause, session.CauseOf(err))

			w := c.Watch(within(t), session.WatchOptions{GameID: session.NewSecret()})
			defer w.Close()
			u, err := w.Next()
			require.NoError(t, err)
			assert.Equal(t, session.Reconnecting, u.Connection.State, "it goes on trying")
			assert.Equal(t, tc.cause, session.CauseOf(u.Connection.Err), "and says so at once")
		})
	}
}
