package rpc

import (
	"bytes"
	"context"
	"log/slog"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/gridstand/gridstand/game/replay"
	"github.com/gridstand/gridstand/server/internal/gamelog"
	"github.com/gridstand/gridstand/server/internal/match"
)

// Ensure that a client that is refused for its version learns what to do.
func TestToStatus_VersionConflict(t *testing.T) {
	t.Parallel()
	failed := new(Service).toStatus(t.Context(), "Move", &match.VersionConflictError{Version: 7})
	assert.Contains(t, failed.message, "version 7")
	assert.Contains(t, failed.message, "get the game")
}

// Ensure that repeated calls on damaged games, or on games that need a newer server, do not flood
// the log.
func TestToStatus_RepeatedCalls(t *testing.T) {
	t.Parallel()
	for _, err := range []error{&gamelog.DamagedError{GameID: "a"}, replay.ErrUnknown} {
		var log bytes.Buffer
		s := New(Config{Logger: slog.New(slog.NewTextHandler(&log, nil))})
		for range 1000 {
			require.Error(t, s.toStatus(t.Context(), "GetGame", err))
		}
		lines := bytes.Count(log.Bytes(), []byte("\n"))
		assert.Positive(t, lines, "%v", err)
		assert.Less(t, lines, 1000, "%v", err)
	}
}

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
