package session_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"

	"github.com/gridstand/gridstand/client/session"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// certificate makes one for 127.0.0.1 that signs itself, and a file with it.
func certificate(t *testing.T) (tls.Certificate, string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), IsCA: true, BasicConstraintsValid: true,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	require.NoError(t, err)
	file := filepath.Join(t.TempDir(), "ca.pem")
	block := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	require.NoError(t, os.WriteFile(file, block, 0o600))
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, file
}

func TestTLS(t *testing.T) {
	t.Parallel()
	cert, file := certificate(t)
	secure := grpc.Creds(credentials.NewServerTLSFromCert(&cert))
	one, other := (&fake{}).start(t, secure), (&fake{}).start(t, secure)
	for name, tc := range map[string]struct {
		config session.Config
		want   error
	}{
		"an authority of one's own":  {session.Config{Target: one, CAFile: file}, nil},
		"several servers":            {session.Config{Target: one + "," + other, TLS: true, CAFile: file}, nil},
		"an authority not known":     {session.Config{Target: one, TLS: true}, session.ErrUnreachable},
		"not encrypted by mistake":   {session.Config{Target: one}, session.ErrUnreachable},
		"another than was asked for": {session.Config{Target: "localhost" + one[len("127.0.0.1"):], CAFile: file}, session.ErrUnreachable},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := dial(t, tc.config).Games.GetServerInfo(within(t), &pb.GetServerInfoRequest{})
			if tc.want == nil {
				require.NoError(t, err)
				return
			}
			assert.ErrorIs(t, err, tc.want)
		})
	}
}
