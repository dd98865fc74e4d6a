// Package servertest starts complete servers for tests, with the program's interceptors, startup
// and shutdown. Only tests import it.
package servertest

import (
	"context"
	"log/slog"
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	outputtest "github.com/gridstand/gridstand/internal/testkit/output"
	tlstest "github.com/gridstand/gridstand/internal/testkit/tls"
	"github.com/gridstand/gridstand/server"
)

// Config returns the default configuration, adapted for tests: the server keeps games in
// memory, listens on a free local port, logs to the test's output and stops without a long
// wait.
func Config(t testing.TB) server.Config {
	t.Helper()
	c := server.DefaultConfig()
	c.Store = server.Memory
	c.Listen = "127.0.0.1:0"
	c.StopTimeout = 2 * time.Second
	c.Exhibition = false // no games other than those that the test creates
	c.Logger = slog.New(slog.NewTextHandler(t.Output(), nil))
	return c
}

// Log is an in-memory log. It is safe for concurrent use.
type Log struct{ outputtest.Buffer }

// Logger returns a logger that writes all levels to the log.
func (l *Log) Logger() *slog.Logger {
	return slog.New(slog.NewTextHandler(l, &slog.HandlerOptions{Level: slog.LevelDebug}))
}

// Start starts a server that is stopped when the test ends. The returned function stops it earlier
// and waits until it has stopped. The test fails if the server fails.
func Start(t testing.TB, c server.Config) (*server.Server, func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	server, err := server.Start(ctx, c)
	require.NoError(t, err, "starting a server")
	stop := func() {
		cancel()
		assert.NoError(t, server.Wait(), "a server failed")
	}
	t.Cleanup(stop)
	return server, stop
}

// Dial connects to a server without TLS. The connection is closed when the test ends.
func Dial(t testing.TB, addr net.Addr, options ...grpc.DialOption) *grpc.ClientConn {
	t.Helper()
	options = append([]grpc.DialOption{grpc.WithTransportCredentials(insecure.NewCredentials())}, options...)
	conn, err := grpc.NewClient("passthrough:///"+addr.String(), options...)
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}

// Certificate writes a certificate for 127.0.0.1 and localhost and its key to files. Clients must
// trust the certificate.
func Certificate(t testing.TB) (certFile, keyFile string) {
	t.Helper()
	certFile, keyFile = tlstest.Files(t)
	tlstest.NewAuthority(t).Issue(t, "server", certFile, keyFile)
	return certFile, keyFile
}
