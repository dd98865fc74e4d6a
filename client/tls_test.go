package client_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
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
		reason string // in the error, or empty
	}{
		"a private authority":          {client.Config{Target: one, CAFile: file}, ""},
		"several servers":              {client.Config{Target: one + "," + other, TLS: true, CAFile: file}, ""},
		"an unknown authority":         {client.Config{Target: one, TLS: true}, "tls: failed to verify certificate: x509: certificate signed by unknown authority"},
		"not encrypted by mistake":     {client.Config{Target: one}, "error reading server preface: "},
		"another server's certificate": {elsewhere, "tls: failed to verify certificate: x509: certificate is valid for "},
		"encrypted by mistake":         {client.Config{Target: plain, TLS: true}, "tls: first record does not look like a TLS handshake"},
	} {
		c := dial(t, tc.config)
		_, err := c.Games.GetServerInfo(waittest.Context(t), &pb.GetServerInfoRequest{})
		if tc.reason == "" {
			require.NoError(t, err, name)
			continue
		}
		require.ErrorIs(t, err, client.ErrUnreachable, name)
		assert.Regexp(t, "^"+tc.reason, err.Error(), name)

		w := c.Watch(waittest.Context(t), client.WatchOptions{GameID: client.NewSecret()})
		u, err := w.Next()
		w.Close()
		require.NoError(t, err, name)
		assert.Equal(t, client.Reconnecting, u.Connection.State, "%s: the Watch should keep trying", name)
		assert.ErrorIs(t, u.Connection.Err, client.ErrUnreachable, name)
	}
}
