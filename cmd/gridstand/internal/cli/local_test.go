package cli

import (
	"net"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	grpcstatus "google.golang.org/grpc/status"

	waittest "github.com/gridstand/gridstand/internal/testkit/wait"
)

// Ensure that play --local asks only once for a running server, since retries would delay each start.
func TestFindLocal_Once(t *testing.T) {
	t.Parallel()
	var calls atomic.Int32
	server := grpc.NewServer(grpc.UnknownServiceHandler(func(any, grpc.ServerStream) error {
		calls.Add(1)
		return grpcstatus.Error(codes.Unavailable, "not yet")
	}))
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	go func() { _ = server.Serve(listener) }()
	defer server.Stop()
	assert.False(t, findLocal(waittest.Context(t), listener.Addr().String()))
	assert.EqualValues(t, 1, calls.Load())
}
