//go:build slow

package sqlite

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/server/internal/store"
)

// Ensure that a corrupt page damages only the game whose rows it contains, that calls about it return a
// clear error, and that other games continue, unless SQLite has to move rows to that page.
func TestGames_CorruptPage(t *testing.T) {
	t.Parallel()
	const pageSize = 4096
	path := filepath.Join(t.TempDir(), "store.db")
	s := mustOpen(t, Options{Path: path})
	d := s.Engine.(*engine).db
	play(t, s, "far", 1, 100)
	play(t, s, "next", 1, 60)
	play(t, s, "damaged", 1, 50)
	leaves := numbers(t, d, "SELECT pageno FROM dbstat WHERE name = 'entries' AND pagetype = 'leaf' ORDER BY path")
	require.NoError(t, s.Close())
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	require.NoError(t, err)
	_, err = file.WriteAt(make([]byte, pageSize), int64(leaves[len(leaves)-1]-1)*pageSize)
	require.NoError(t, err)
	require.NoError(t, file.Close())

	s = openStore(t, Options{Path: path})
	records, err := s.Games.Entries(t.Context(), "damaged", 1, 1000)
	var corrupt *store.CorruptError
	require.ErrorAs(t, err, &corrupt)
	require.NotEmpty(t, records)
	assert.EqualValues(t, len(records), corrupt.Version)
	tail, err := s.Games.Tail(t.Context(), "damaged")
	require.NoError(t, err)
	assert.Equal(t, unreadable, tail.Last)
	var failed *store.Error
	_, err = s.Games.Append(t.Context(), "damaged", entry("damaged", 51))
	require.ErrorAs(t, err, &failed)
	assert.Equal(t, store.Corrupt, failed.Kind)

	play(t, s, "far", 101, 150)
	err = nil
	for n := int32(61); err == nil && n <= 160; n++ {
		_, err = s.Games.Append(t.Context(), "next", entry("next", n))
	}
	require.ErrorAs(t, err, &failed)
	assert.Equal(t, store.Corrupt, failed.Kind)
	_, err = s.Games.Entries(t.Context(), "next", 1, 1000)
	require.NoError(t, err)
}
