package sqlite

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	sqlite3 "zombiezen.com/go/sqlite"

	"github.com/gridstand/gridstand/server/internal/store"
)

// Ensure that a start finds exactly the games that lost moves because the write-ahead log was changed
// after a kill, until they have been dealt with, and that no game counts as lost that was removed.
func TestLost(t *testing.T) {
	t.Parallel()
	now := time.Now()
	path := filepath.Join(t.TempDir(), "store.db")
	s := openStore(t, Options{Path: path, Now: func() time.Time { return now }})
	d := s.Engine.(*engine).background
	copied := func(parts ...string) string { // as a kill leaves the files
		t.Helper()
		to := filepath.Join(t.TempDir(), "store.db")
		for _, part := range append(parts, "") {
			out, err := os.ReadFile(path + part)
			require.NoError(t, err)
			require.NoError(t, os.WriteFile(to+part, out, 0o600))
		}
		return to
	}
	lost := func(s *store.Store, failure error) (lost []string) {
		t.Helper()
		err := s.Engine.(*engine).Settle(t.Context(), func(_ context.Context, gameIDs []string) error {
			lost = gameIDs
			return failure
		})
		if lost == nil {
			failure = nil
		}
		require.Equal(t, failure, err)
		return lost
	}
	requireLost := func(path string, want ...string) {
		t.Helper()
		for range 2 {
			s, err := Open(Options{Path: path})
			require.NoError(t, err)
			require.ElementsMatch(t, want, lost(s, errors.New("as a tool, which leaves the games to the next server")))
			require.NoError(t, s.Close())
		}
		s := openStore(t, Options{Path: path})
		require.ElementsMatch(t, want, lost(s, nil))
		require.Empty(t, lost(s, nil))
	}
	checkpoint := func() {
		t.Helper()
		require.NoError(t, d.write(t.Context(), func(*sqlite3.Conn) error { d.writer.suspect = true; return nil }))
		require.NoError(t, d.saveClock(t.Context()))
	}
	play(t, s, "a", 1, 3)
	play(t, s, "b", 1, 2)
	play(t, s, "gone", 1, 1)
	require.NoError(t, s.Games.Expire(t.Context(), now.Add(time.Hour), "gone"))
	checkpoint()
	cut, err := os.Stat(path + walSuffix)
	require.NoError(t, err)
	requireLost(copied(notesSuffix))
	play(t, s, "past", 1, 2)
	require.NoError(t, s.Games.Expire(t.Context(), now.Add(time.Hour), "past"))
	now = now.Add(time.Hour)
	require.ErrorIs(t, s.Games.Quarantine(t.Context(), "past", entryID("past", 2), time.Hour), store.ErrMoved) // removes it
	require.NoError(t, d.sweep(t.Context()))
	play(t, s, "b", 3, 4)
	play(t, s, "c", 1, 1)
	require.Error(t, d.write(t.Context(), func(*sqlite3.Conn) error {
		d.notes.add("c", 2)
		return errors.New("no")
	}))
	requireLost(copied(notesSuffix, walSuffix))
	requireLost(copied(walSuffix), []string{}...)
	requireLost(copied(notesSuffix), "b", "c")
	short := copied(notesSuffix, walSuffix)
	require.NoError(t, os.Truncate(short+walSuffix, max(100, cut.Size())))
	requireLost(short, "b", "c")
	zeroed := copied(notesSuffix, walSuffix)
	require.NoError(t, os.WriteFile(zeroed+walSuffix, make([]byte, 10*pageSize), 0o600))
	requireLost(zeroed, "b", "c")

	// Notes of entries that are in the database are removed.
	require.NoError(t, d.write(t.Context(), func(*sqlite3.Conn) error {
		d.writer.free = func() int64 { return 0 } // so that the log is moved early
		return nil
	}))
	size := func() int64 {
		info, err := os.Stat(path + notesSuffix)
		require.NoError(t, err)
		return info.Size()
	}
	require.Positive(t, size())
	for n := range 2 * tightPages { // one page each
		require.NoError(t, d.writeUnsynced(t.Context(), func(c *sqlite3.Conn) error {
			return exec(c, "INSERT INTO secrets VALUES (?, zeroblob(?))", strconv.Itoa(n), pageSize)
		}))
	}
	assert.Zero(t, size())
}
