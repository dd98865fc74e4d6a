// Package apptest starts whole servers for tests: the one that the program
// runs, with its interceptors and its way to start and stop. Only tests import
// it.
package apptest

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"log/slog"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/gridstand/gridstand/server/app"
)

// Config is the default one, changed for a test: it listens on a free local
// port, logs into the test's output and does not wait long at its end.
func Config(t testing.TB) app.Config {
	t.Helper()
	c := app.DefaultConfig()
	c.Listen = "127.0.0.1:0"
	c.StopTimeout = 2 * time.Second
	c.Logger = slog.New(slog.NewTextHandler(t.Output(), nil))
	return c
}

// Log keeps what is logged into it. It may be used concurrently.
type Log struct {
	mu   sync.Mutex
	text bytes.Buffer
}

// Write implements io.Writer.
func (l *Log) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(b)
}

// Logger writes everything into the log.
func (l *Log) Logger() *slog.Logger {
	return slog.New(slog.NewTextHandler(l, &slog.HandlerOptions{Level: slog.LevelDebug}))
}

// String is all that was logged.
func (l *Log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// Start starts a server that ends with the test, and before it if the caller
// calls the function returned, which waits for its end. A server that fails
// fails the test.
func Start(t testing.TB, c app.Config) (*app.Server, func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	server, err := app.Start(ctx, c)
	if err != nil {
		cancel()
		require.NoError(t, err, "starting a server")
	}
	stop := func() {
		cancel()
		assert.NoError(t, server.Wait(), "a server failed")
	}
	t.Cleanup(stop)
	return server, stop
}

// Dial connects to a server, without TLS. The connection closes with the test.
func Dial(t testing.TB, addr net.Addr, options ...grpc.DialOption) *grpc.ClientConn {
	t.Helper()
	options = append([]grpc.DialOption{grpc.WithTransportCredentials(insecure.NewCredentials())}, options...)
	conn, err := grpc.NewClient("passthrough:///"+addr.String(), options...)
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}

// Certificate writes a certificate for 127.0.0.1 and localhost that vouches
// for itself, and its key, into files. The first file is also what a client
// must trust.
func Certificate(t testing.TB) (certFile, keyFile string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "gridstand test"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true,
		KeyUsage:    x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		DNSNames:    []string{"localhost"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
	}
	certificate, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	require.NoError(t, err)
	keyBytes, err := x509.MarshalPKCS8PrivateKey(key)
	require.NoError(t, err)

	dir := t.TempDir()
	write := func(name, kind string, der []byte) string {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600))
		return path
	}
	return write("cert.pem", "CERTIFICATE", certificate), write("key.pem", "PRIVATE KEY", keyBytes)
}
