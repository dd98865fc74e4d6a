package rpc

import (
	"bytes"
	"log/slog"
	"testing"

	"github.com/stretchr/testify/assert"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// Ensure that a connection that closes during a write to a stream is not reported as a
// server error. gRPC may return Unavailable before it cancels the stream.
func TestToStatus_ConnectionClosed(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	s := &Service{}
	s.Logger = slog.New(slog.NewTextHandler(&log, nil))
	failed := s.toStatus(t.Context(), "Watch", status.Error(codes.Unavailable, "transport is closing"))
	assert.Equal(t, codes.Canceled, failed.code)
	assert.Empty(t, log.String())
}
