//go:build slow

package sqlite

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	sqlite3 "zombiezen.com/go/sqlite"
)

// Ensure that a warning is logged, once, if a long read lets the write-ahead log grow, and that the log
// then starts over.
func TestTendLog_Grows(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	s := mustOpen(t, Options{Memory: true, Logger: slog.New(slog.NewTextHandler(&log, nil))})
	d := s.Engine.(*engine).db
	newTable(t, d)
	other, err := sqlite3.OpenConn(d.path, sqlite3.OpenReadOnly)
	require.NoError(t, err)
	require.NoError(t, exec(other, "BEGIN"))
	require.NoError(t, exec(other, "SELECT * FROM test"))
	grow := func(first int) {
		for n := first; n < first+200; n++ {
			insertRows(t, d, 1000*n+1, 1000*(n+1))
		}
	}
	grow(0)
	assert.Equal(t, 1, bytes.Count(log.Bytes(), []byte("level=WARN")), log.String())
	assert.Contains(t, log.String(), "id=log-grows")
	assert.Greater(t, s.Engine.(*engine).LogSize(), grownPages*pageSize)
	require.NoError(t, other.Close())
	grow(200)
	assert.LessOrEqual(t, s.Engine.(*engine).LogSize(), logLimit)
	require.NoError(t, s.Close())
}

// Ensure that a store whose write-ahead log was cut at any half of a page opens in the state after an earlier
// transaction: each entry's game has its head, and the entries are those that were written first.
func TestOpen_CutLog(t *testing.T) {
	t.Parallel()
	const entries = 8 // of each of two games, which are written in turn
	path, cut := filepath.Join(t.TempDir(), "store.db"), filepath.Join(t.TempDir(), "store.db")
	s := openStore(t, Options{Path: path})
	for n := range int32(entries) {
		play(t, s, "a", n+1, n+1)
		play(t, s, "bb", n+1, n+1)
	}
	db, err := os.ReadFile(path) // From here on, nothing else may use this store: reading it has released SQLite's locks.
	require.NoError(t, err)
	log, err := os.ReadFile(path + walSuffix)
	require.NoError(t, err)
	states, most := map[int64]bool{}, int64(0)
	for n := 0; n < len(log)+pageSize/2; n += pageSize / 2 {
		require.NoError(t, os.WriteFile(cut, db, 0o600))
		require.NoError(t, os.WriteFile(cut+walSuffix, log[:min(n, len(log))], 0o600))
		s := mustOpen(t, Options{Path: cut})
		var lengths []int64
		for _, game := range []string{"a", "bb"} {
			tail, err := s.Games.Tail(t.Context(), game)
			require.NoError(t, err)
			require.Equal(t, tail.Last, tail.Head)
			require.EqualValues(t, tail.Last.Version, tail.Length)
			lengths = append(lengths, tail.Length)
		}
		require.NoError(t, s.Close())
		total := lengths[0] + lengths[1]
		require.Equal(t, []int64{(total + 1) / 2, total / 2}, lengths, "the store never had this state")
		require.GreaterOrEqual(t, total, most, "a longer log has fewer entries, at byte %d", n)
		states[total], most = true, total
	}
	assert.Len(t, states, 2*entries+1, "not every transaction was cut off")
}
