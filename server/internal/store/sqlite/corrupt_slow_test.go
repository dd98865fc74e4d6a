//go:build slow

package sqlite

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	sqlite3 "zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"

	"github.com/gridstand/gridstand/server/internal/store"
)

// Ensure that a corrupt page damages only the games whose rows it contains, that calls
// about them return a clear error, and that all other games can be read. They can be
// continued, too, unless SQLite has to move rows to that page: then the error says why.
func TestGames_CorruptPage(t *testing.T) {
	t.Parallel()
	const (
		pageSize = 4096
		length   = 8
	)
	whole := filepath.Join(t.TempDir(), "whole.db")
	s, err := Open(Options{Path: whole})
	require.NoError(t, err)
	var all []string
	for n := range 150 {
		all = append(all, fmt.Sprintf("game-%d", n))
	}
	d := s.Engine.(*engine).db
	require.NoError(t, d.write(t.Context(), func(c *sqlite3.Conn) error {
		return then(t.Context(), c, func(ctx context.Context) error {
			for n := range int32(length) {
				for _, game := range all {
					if _, err := s.Games.Append(ctx, game, entry(game, n+1)); err != nil {
						return err
					}
				}
			}
			return nil
		})
	}))
	// These pages contain only rows of games and entries.
	leaves := numbers(t, d, "SELECT pageno FROM dbstat WHERE name IN ('games', 'entries') AND pagetype = 'leaf'")
	require.NotEmpty(t, leaves)
	require.NoError(t, s.Close())
	content, err := os.ReadFile(whole)
	require.NoError(t, err)

	random := rand.New(rand.NewPCG(1, 2))
	random.Shuffle(len(leaves), func(i, j int) { leaves[i], leaves[j] = leaves[j], leaves[i] })
	for _, page := range leaves[:min(20, len(leaves))] {
		damaged := bytes.Clone(content)
		for i := range pageSize {
			damaged[(page-1)*pageSize+i] = byte(random.Uint32())
		}
		path := filepath.Join(t.TempDir(), "damaged.db")
		require.NoError(t, os.WriteFile(path, damaged, 0o600))
		s, err := Open(Options{Path: path})
		require.NoError(t, err, "page %d", page)
		neverSync(t, s.Engine.(*engine).db)
		var hurt atomic.Int64
		var group sync.WaitGroup
		for _, game := range append(all, "a new one") {
			group.Go(func() {
				if !continueGame(t, s, game, length) {
					hurt.Add(1)
				}
			})
		}
		group.Wait()
		assert.Less(t, hurt.Load(), int64(25), "page %d", page)
		assert.Positive(t, hurt.Load(), "page %d", page)
		require.NoError(t, s.Close())
	}
}

// neverSync makes a store that was just opened commit without waiting for the disk. On a slow disk, the
// thousands of commits would take longer than the test may.
func neverSync(t *testing.T, d *db) {
	t.Helper()
	require.NoError(t, d.write(t.Context(), func(*sqlite3.Conn) error {
		d.writer.never = true
		return nil
	}))
	// The writer has no work, so it does not use its connection.
	require.NoError(t, sqlitex.ExecuteTransient(d.writer.conn, "PRAGMA synchronous = OFF", nil))
}

// continueGame reads a game with the given number of entries, and appends more if the
// game is intact. It reports whether the game was intact.
func continueGame(t *testing.T, s *store.Store, game string, length int32) bool {
	if game == "a new one" {
		length = 0
	}
	records, err := s.Games.Entries(t.Context(), game, 1, 1000)
	tail, tailErr := s.Games.Tail(t.Context(), game)
	if !assert.NoError(t, tailErr) {
		return false
	}
	if err == nil && len(records) == int(length) && (length == 0 || tail.Last == entryID(game, length)) && tail.Head == tail.Last {
		for n := length + 1; n <= 2*length+10; n++ {
			if _, err := s.Games.Append(t.Context(), game, entry(game, n)); err != nil {
				var failed *store.Error
				assert.ErrorAs(t, err, &failed)
				assert.Equal(t, store.Corrupt, failed.Kind)
				assert.NotErrorIs(t, err, store.ErrBroken, "the game can be read")
				return false
			}
		}
		records, err := s.Games.Entries(t.Context(), game, 1, 1000)
		assert.NoError(t, err)
		assert.Len(t, records, 2*int(length)+10)
		return true
	}
	var corrupt *store.CorruptError
	if err != nil && assert.ErrorAs(t, err, &corrupt) {
		assert.EqualValues(t, len(records), corrupt.Version)
	}
	return false
}
