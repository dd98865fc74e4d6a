package sqlite

import (
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
	sqlite3 "zombiezen.com/go/sqlite"

	"github.com/gridstand/gridstand/server/internal/store"
)

// descriptor returns the descriptor of a file that this process has opened exactly once.
func descriptor(t *testing.T, path string) int {
	t.Helper()
	all, err := os.ReadDir("/proc/self/fd")
	require.NoError(t, err)
	var found []int
	for _, d := range all {
		if name, err := os.Readlink("/proc/self/fd/" + d.Name()); err == nil && name == path {
			n, err := strconv.Atoi(d.Name())
			require.NoError(t, err)
			found = append(found, n)
		}
	}
	require.Len(t, found, 1)
	return found[0]
}

// failSyncs makes syncs of a file fail until the returned function is called. In the
// meantime, writes go to /dev/null, which cannot be synced.
func failSyncs(t *testing.T, descriptor int) (heal func()) {
	t.Helper()
	null, err := unix.Open("/dev/null", unix.O_RDWR|unix.O_CLOEXEC, 0)
	require.NoError(t, err)
	saved, err := unix.FcntlInt(uintptr(descriptor), unix.F_DUPFD_CLOEXEC, 0)
	require.NoError(t, err)
	require.NoError(t, unix.Dup3(null, descriptor, unix.O_CLOEXEC))
	require.NoError(t, unix.Close(null))
	return func() {
		require.NoError(t, unix.Dup3(saved, descriptor, unix.O_CLOEXEC))
		require.NoError(t, unix.Close(saved))
	}
}

// Ensure that after a failed sync, no write is acknowledged that depends on earlier data
// in the write-ahead log, because that data may be lost.
func TestWrite_SyncFails(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "store.db")
	d := openDB(t, Options{Path: path})
	require.NoError(t, insert(t.Context(), d, 1))
	heal := failSyncs(t, descriptor(t, path+"-wal"))
	err := insert(t.Context(), d, 2)
	heal()
	require.ErrorIs(t, err, store.ErrUnsettled)
	require.Equal(t, sqlite3.ResultIOErrFsync, sqlite3.ErrCode(err))
	var failure *store.Error
	require.ErrorAs(t, err, &failure)
	assert.Equal(t, diskError, failure.Kind)

	require.NoError(t, insert(t.Context(), d, 3))
	content, err := os.ReadFile(path) // From here on, nothing else may use this store: reading it has released SQLite's locks.
	require.NoError(t, err)
	copied := filepath.Join(t.TempDir(), "store.db")
	require.NoError(t, os.WriteFile(copied, content, 0o600))
	assert.Equal(t, []int{1}, rows(t, openDB(t, Options{Path: copied})), "without the log")
	assert.Equal(t, []int{1, 3}, rows(t, d))
}

// Ensure that after a failed sync no write is acknowledged while a reader prevents the
// log from being replaced, and that writes succeed after the reader has finished.
func TestWrite_SyncFails_LongRead(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "store.db")
	d := openDB(t, Options{Path: path})
	require.NoError(t, insert(t.Context(), d, 1))
	log := descriptor(t, path+"-wal") // while no reader has it open
	require.NoError(t, d.read(t.Context(), func(c *sqlite3.Conn) error {
		assert.NoError(t, exec(c, "SELECT n FROM test"))
		heal := failSyncs(t, log)
		assert.Error(t, insert(t.Context(), d, 2))
		heal()
		d.writer.conn.SetBusyTimeout(time.Millisecond)
		var failure *store.Error
		if assert.ErrorAs(t, insert(t.Context(), d, 2), &failure) {
			assert.Equal(t, store.Timeout, failure.Kind)
		}
		return nil
	}))
	require.NoError(t, insert(t.Context(), d, 2))
	assert.Equal(t, []int{1, 2}, rows(t, d))
}
