package sqlite

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	sqlite3 "zombiezen.com/go/sqlite"

	"github.com/gridstand/gridstand/server/internal/store"
)

// mustOpen opens a store, which the caller closes.
func mustOpen(t testing.TB, o Options) *store.Store {
	t.Helper()
	s, err := Open(o)
	require.NoError(t, err)
	return s
}

// openStore opens a store that is closed after the test.
func openStore(t testing.TB, o Options) *store.Store {
	t.Helper()
	s := mustOpen(t, o)
	t.Cleanup(func() { assert.NoError(t, s.Close()) })
	return s
}

// entry returns the nth entry of a test game.
func entry(game string, n int32) store.Entry {
	e := store.Entry{Next: entryID(game, n), Raw: fmt.Appendf(nil, "entry %d of %s, %60d", n, game, n), Head: bytes.Repeat([]byte{'h'}, 160)}
	if n == 1 {
		e.Seed = []byte("a seed")
	} else {
		e.Prev = entryID(game, n-1)
	}
	return e
}

func entryID(game string, n int32) store.ID {
	return store.ID{Version: n, Digest: uint64(len(game)) << 60 * uint64(n)}
}

// play appends the entries of a game up to and including a version.
func play(t testing.TB, s *store.Store, game string, from, through int32) {
	t.Helper()
	for n := from; n <= through; n++ {
		_, err := s.Games.Append(t.Context(), game, entry(game, n))
		require.NoError(t, err)
	}
}

// Ensure that an append to a log that does not contain the entry named by its head is
// refused, and that one to a log that continues after that entry is not.
func TestAppend_ChangedLog(t *testing.T) {
	t.Parallel()
	d := openDB(t, Options{Memory: true})
	s := ports(&engine{db: d, feed: newFeed()}, d)
	change := func(text string, args ...any) {
		require.NoError(t, d.write(t.Context(), func(c *sqlite3.Conn) error { return exec(c, text, args...) }))
	}
	log := func(game string) (versions []int32) {
		records, err := s.Games.Entries(t.Context(), game, 1, 9)
		require.NoError(t, err)
		for _, r := range records {
			versions = append(versions, r.ID.Version)
		}
		return versions
	}
	for _, game := range []string{"a", "bb", "ccc"} {
		play(t, s, game, 1, 3)
	}
	change("DELETE FROM entries WHERE version = 3 AND game = (SELECT game FROM games WHERE id = 'a')")
	change("UPDATE entries SET digest = 1 WHERE version = 3 AND game = (SELECT game FROM games WHERE id = 'bb')")
	change("UPDATE games SET version = 2, digest = ? WHERE id = 'ccc'", entryID("ccc", 2).Digest)

	var conflict *store.ConflictError
	_, err := s.Games.Append(t.Context(), "a", entry("a", 4))
	require.ErrorAs(t, err, &conflict)
	assert.Equal(t, entryID("a", 2), conflict.Last)
	assert.Equal(t, []int32{1, 2}, log("a"))

	_, err = s.Games.Append(t.Context(), "bb", entry("bb", 4))
	require.ErrorAs(t, err, &conflict)
	assert.Equal(t, store.ID{Version: 3, Digest: 1}, conflict.Last)
	assert.Equal(t, []int32{1, 2, 3}, log("bb"))

	other := entry("ccc", 3)
	other.Next.Digest++
	_, err = s.Games.Append(t.Context(), "ccc", other)
	require.ErrorAs(t, err, &conflict)
	assert.Equal(t, entryID("ccc", 3), conflict.Last)
	play(t, s, "ccc", 4, 4)
	assert.Equal(t, []int32{1, 2, 3, 4}, log("ccc"))
}
