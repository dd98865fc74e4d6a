package sqlite

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/server/internal/store"
)

// newStore creates a store with a hidden player, and returns its path. If killed is set, the
// player is only in its write-ahead log.
func newStore(t *testing.T, player string, killed bool) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "store.db")
	s := mustOpen(t, Options{Path: path})
	require.NoError(t, s.Boards.Hide(t.Context(), player))
	defer func() { require.NoError(t, s.Close()) }()
	if killed {
		return asKilled(t, path, walSuffix)
	}
	return path
}

func requireHidden(t *testing.T, path, player string) {
	t.Helper()
	s := mustOpen(t, Options{Path: path})
	defer func() { assert.NoError(t, s.Close()) }()
	hidden, err := s.Boards.Hidden(t.Context(), "ann", "bob")
	require.NoError(t, err)
	assert.Equal(t, map[string]bool{player: true}, hidden)
}

// Ensure that Restore replaces a store only if asked to, that the earlier store's write-ahead log is not
// applied to the new one, and that it says why if it cannot.
func TestRestore(t *testing.T) {
	t.Parallel()
	backup := filepath.Join(t.TempDir(), "backup.db")
	_, _, err := Backup(t.Context(), newStore(t, "bob", false), backup)
	require.NoError(t, err)
	content, err := os.ReadFile(backup)
	require.NoError(t, err)
	fill := func(path string) error {
		games, err := RestoreBackup(path, bytes.NewReader(content))
		assert.Zero(t, games)
		return err
	}
	path := newStore(t, "ann", true)
	require.ErrorIs(t, Restore(path, false, fill), store.ErrNotEmpty)
	requireHidden(t, path, "ann")
	require.NoError(t, os.WriteFile(path+walSuffix, []byte("x"), 0o600))
	require.NoError(t, Restore(path, true, fill))
	assert.NoFileExists(t, path+walSuffix)
	requireHidden(t, path, "bob")

	content[pageSize] ^= 0xff // the kind of the second page
	require.Error(t, Restore(path, true, fill))
	requireHidden(t, path, "bob")
	s := mustOpen(t, Options{Path: path})
	require.ErrorIs(t, Restore(path, true, fill), ErrInUse)
	require.NoError(t, s.Close())
	foreign := filepath.Join(t.TempDir(), "other")
	require.NoError(t, os.WriteFile(foreign, bytes.Repeat([]byte("other "), 100), 0o600))
	require.ErrorContains(t, Restore(foreign, true, fill), "it is damaged, or is not a file of Gridstand; move it away")
}

// Ensure that a store whose data only newer programs can read is refused, although its tables are the
// same.
func TestOpen_NewerFormat(t *testing.T) {
	t.Parallel()
	path := newStore(t, "ann", false)
	execute(t, path, fmt.Sprint("PRAGMA user_version = ", latestVersion(upgrades)|1<<formatBits))
	const want = "it was written by a newer version of this program: the format of its games is 2, and this program supports up to 1"
	_, err := Open(Options{Path: path})
	require.ErrorContains(t, err, want)
	require.ErrorContains(t, Dump(t.Context(), path, nil), want)
	require.ErrorContains(t, failure(Backup(t.Context(), path, filepath.Join(t.TempDir(), "copy.db"))), want)
	execute(t, path, fmt.Sprint("PRAGMA user_version = ", latestVersion(upgrades)-1))
	require.ErrorContains(t, Dump(t.Context(), path, nil), "it was written by an earlier version of this program")
	require.NoError(t, failure(Backup(t.Context(), path, filepath.Join(t.TempDir(), "copy.db"))))
}
