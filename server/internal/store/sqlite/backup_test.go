package sqlite

import (
	"context"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	sqlite3 "zombiezen.com/go/sqlite"
)

// Ensure that a backup made while a server writes is a consistent, working store.
func TestBackup(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "store.db")
	d := openDB(t, Options{Path: path})
	pair := func(ctx context.Context, n int) error {
		return d.write(ctx, func(c *sqlite3.Conn) error { return exec(c, "INSERT INTO test VALUES (?), (?)", n, n+1) })
	}
	require.NoError(t, pair(t.Context(), 1))
	ctx, cancel := context.WithCancel(t.Context())
	var group sync.WaitGroup
	group.Go(func() {
		for n := 3; ctx.Err() == nil; n += 2 {
			_ = pair(ctx, n)
		}
	})
	copied := filepath.Join(t.TempDir(), "copy.db")
	games, size, err := Backup(t.Context(), path, copied)
	cancel()
	group.Wait()
	require.NoError(t, err)
	require.NoError(t, pair(t.Context(), 1_000_001)) // waits for the write of the canceled call above
	assert.Zero(t, games)
	info, err := os.Stat(copied)
	require.NoError(t, err)
	assert.Equal(t, info.Size(), size)
	numbers := rows(t, openDB(t, Options{Path: copied}))
	assert.GreaterOrEqual(t, len(numbers), 2)
	assert.Zero(t, len(numbers)%2, "half a transaction")

	ended, end := context.WithCancel(t.Context())
	end()
	require.ErrorIs(t, failure(Backup(ended, path, filepath.Join(t.TempDir(), "copy.db"))), context.Canceled)
}

// Ensure that a backup includes data that is only in the write-ahead log, even after a
// crash.
func TestBackup_AfterCrash(t *testing.T) {
	t.Parallel()
	copied := filepath.Join(t.TempDir(), "copy.db")
	require.NoError(t, failure(Backup(t.Context(), crashed(t, 100), copied)))
	assertRows(t, copied, 100)
}

// failure returns the error from a call to Backup and drops the other results.
func failure(_, _ int64, err error) error { return err }
