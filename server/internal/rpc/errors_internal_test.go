package rpc

import (
	"bytes"
	"context"
	"log/slog"
	"testing"

	"github.com/stretchr/testify/assert"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// Ensure that a connection or stream that closes during a write is not reported as a server
// error. gRPC may return these codes before it cancels the stream's context.
func TestToStatus_ConnectionClosed(t *testing.T) {
	t.Parallel()
	for _, err := range []error{
		status.Error(codes.Unavailable, "transport is closing"),
		status.Error(codes.Canceled, context.Canceled.Error()),
	} {
		var log bytes.Buffer
		s := &Service{}
		s.Logger = slog.New(slog.NewTextHandler(&log, nil))
		failed := s.toStatus(t.Context(), "Watch", err)
		assert.Equal(t, codes.Canceled, failed.code, "%v", err)
		assert.Empty(t, log.String(), "%v", err)
	}
}
