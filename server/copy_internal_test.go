package server

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	redistest "github.com/gridstand/gridstand/internal/testkit/redis"
	"github.com/gridstand/gridstand/server/internal/store/sqlite"
)

// Ensure that no server starts on what an interrupted copy has left: a Redis database can no longer
// be opened, and a new file is removed.
func TestCopy_Interrupted(t *testing.T) {
	t.Parallel()
	c := DefaultConfig()
	c.Store = File(filepath.Join(t.TempDir(), "one.db"))
	source, err := c.open(t.Context(), sqlite.Options{}, true)
	require.NoError(t, err)
	require.NoError(t, source.Boards.Hide(t.Context(), "player"))
	require.NoError(t, source.Close())

	interrupted := func(to string) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		_, err := Copy(ctx, c, to, func(Copied) { cancel() })
		require.ErrorIs(t, err, context.Canceled)
	}
	target := DefaultConfig()
	target.Store = "redis://" + redistest.StartMiniredis(t).Addr()
	interrupted(target.Store)
	_, err = Start(t.Context(), target)
	require.ErrorContains(t, err, "holds an incomplete copy; empty that database and copy again")

	file := filepath.Join(t.TempDir(), "two.db")
	interrupted(File(file))
	assert.NoFileExists(t, file)
}
