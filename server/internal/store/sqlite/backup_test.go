package sqlite

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	sqlite3 "zombiezen.com/go/sqlite"
)

// Ensure that a backup beside a server that writes is of one moment, and is a store.
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
	err := Backup(t.Context(), path, copied)
	cancel()
	group.Wait()
	require.NoError(t, err)
	require.NoError(t, pair(t.Context(), 1_000_001)) // the last one above may still be under way
	if info, err := os.Stat(copied); assert.NoError(t, err) && runtime.GOOS != "windows" {
		assert.Equal(t, os.FileMode(0o600), info.Mode().Perm())
	}
	assert.NoFileExists(t, copied+".partial")
	numbers := rows(t, openDB(t, Options{Path: copied}))
	assert.GreaterOrEqual(t, len(numbers), 2)
	assert.Zero(t, len(numbers)%2, "half a transaction")

	t.Run("through a symbolic link", func(t *testing.T) {
		dir := t.TempDir()
		link, other := filepath.Join(dir, "link.db"), filepath.Join(dir, "copy.db")
		if err := os.Symlink(path, link); err != nil {
			t.Skip("no symbolic links:", err)
		}
		require.NoError(t, Backup(t.Context(), link, other))
		assert.Equal(t, rows(t, d), rows(t, openDB(t, Options{Path: other})))
	})
	t.Run("nothing is overwritten", func(t *testing.T) {
		require.ErrorIs(t, Backup(t.Context(), path, path), os.ErrExist)
	})
	t.Run("a failure leaves nothing", func(t *testing.T) {
		ended, end := context.WithCancel(t.Context())
		end()
		dir := t.TempDir()
		require.ErrorIs(t, Backup(ended, path, filepath.Join(dir, "copy.db")), context.Canceled)
		files, err := os.ReadDir(dir)
		require.NoError(t, err)
		assert.Empty(t, files)
	})
}

// Ensure that what only the write-ahead log has is copied, also after a crash.
func TestBackup_AfterCrash(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "store.db")
	d := openDB(t, Options{Path: path})
	require.NoError(t, insert(t.Context(), d, 1))
	crashed := filepath.Join(t.TempDir(), "store.db")
	for _, end := range []string{"", "-wal"} {
		content, err := os.ReadFile(path + end) // Nothing works on it after this, without SQLite's locks.
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(crashed+end, content, 0o600))
	}
	copied := filepath.Join(t.TempDir(), "copy.db")
	require.NoError(t, Backup(t.Context(), crashed, copied))
	assert.Equal(t, []int{1}, rows(t, openDB(t, Options{Path: copied})))
}
