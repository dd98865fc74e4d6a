package redis

import (
	"log/slog"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	redistest "github.com/gridstand/gridstand/internal/testkit/redis"
)

// Ensure that a database to which a copy was interrupted is refused until the copy is finished.
func TestOpen_IncompleteCopy(t *testing.T) {
	t.Parallel()
	url := "redis://" + redistest.StartMiniredis(t).Addr() + "/3"
	s, err := Open(t.Context(), url, slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	defer func() { assert.NoError(t, s.Close()) }()
	require.NoError(t, s.Copier.Begin(t.Context()))
	_, err = Open(t.Context(), url, slog.New(slog.DiscardHandler))
	require.EqualError(t, err, url+" holds an incomplete copy; empty that database and copy again")
	require.NoError(t, s.Copier.Finish(t.Context()))
	again, err := Open(t.Context(), url, slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	require.NoError(t, again.Close())
}
