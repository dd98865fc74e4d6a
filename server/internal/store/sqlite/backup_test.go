package sqlite

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	sqlite3 "zombiezen.com/go/sqlite"

	"github.com/gridstand/gridstand/server/internal/store"
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

// failure returns the error from a call to Backup and drops the other results.
func failure(_, _ int64, err error) error { return err }

// Ensure that a dump of a file with a corrupt page fails, and that the error says how to save the rest.
func TestDump_Corrupt(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "store.db")
	s := mustOpen(t, Options{Path: path})
	play(t, s, "a", 1, 3)
	pages := numbers(t, s.Engine.(*engine).db, "SELECT rootpage FROM sqlite_schema WHERE name = 'entries'")
	require.Len(t, pages, 1)
	require.NoError(t, s.Close())
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	require.NoError(t, err)
	_, err = file.WriteAt(make([]byte, pageSize), int64(pages[0]-1)*pageSize)
	require.NoError(t, err)
	require.NoError(t, file.Close())

	err = Dump(t.Context(), path, func(at time.Time, all func(context.Context, func(store.Item) error) error) error {
		_, err := store.WriteDump(t.Context(), io.Discard, at, all, func(store.Counts) {})
		return err
	})
	var failure *store.Error
	require.ErrorAs(t, err, &failure)
	assert.Equal(t, store.Corrupt, failure.Kind)
	assert.ErrorContains(t, err, `"sqlite3 `+path+` .recover | sqlite3 new.db"`)
}
