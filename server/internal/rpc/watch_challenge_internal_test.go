package rpc

import (
	"bytes"
	"log/slog"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/server/internal/match"
)

// Ensure that a panic while a snapshot is created ends the streams but not the server, and
// that a later stream starts anew instead of joining the live challenge that panicked.
func TestLiveChallenge_Panics(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	// There are no Challenges, so creating a snapshot panics.
	s := New(Config{Hub: match.NewHub(match.Config{}), Logger: slog.New(slog.NewTextHandler(&log, nil))})
	l := s.addStream(t.Context(), "a", "")
	_, err := l.first(t.Context())
	require.ErrorIs(t, err, errInternal)
	again := s.addStream(t.Context(), "a", "")
	assert.NotSame(t, l, again)
	s.removeStream(l, "", "")
	_, err = again.first(t.Context())
	require.ErrorIs(t, err, errInternal)
	s.removeStream(again, "", "")
	assert.Empty(t, s.live.all)
	assert.Empty(t, s.live.watched)
	assert.Contains(t, log.String(), "id=call-panicked")
}
