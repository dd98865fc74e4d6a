// Package grpctest runs gRPC servers for the duration of a test. Only tests import it.
package grpctest

import (
	"errors"
	"net"
	"testing"

	"github.com/stretchr/testify/assert"
	"google.golang.org/grpc"
)

// Serve serves a listener until the test ends, and checks that Serve returned no error.
func Serve(t testing.TB, server *grpc.Server, l net.Listener) {
	t.Helper()
	done := make(chan error, 1)
	go func() { done <- server.Serve(l) }()
	t.Cleanup(func() {
		server.Stop()
		if err := <-done; !errors.Is(err, grpc.ErrServerStopped) { // The test ended before the goroutine began to serve.
			assert.NoError(t, err)
		}
	})
}
