package sqlite

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	sqlite3 "zombiezen.com/go/sqlite"

	"github.com/gridstand/gridstand/server/internal/store"
)

// planOf returns the steps of SQLite's query plan for a statement.
func planOf(t *testing.T, d *db, text string) string {
	t.Helper()
	var steps []string
	require.NoError(t, d.read(t.Context(), func(c *sqlite3.Conn) error {
		s, _, err := c.PrepareTransient("EXPLAIN QUERY PLAN " + text)
		require.NoError(t, err)
		defer func() { assert.NoError(t, s.Finalize()) }()
		for {
			more, err := s.Step()
			if err != nil || !more {
				return err
			}
			steps = append(steps, s.ColumnText(3))
		}
	}))
	return strings.Join(steps, "\n")
}

// Ensure that a page reads only its own rows, and that lists are merged without sorting.
// Only a player's unfinished games are sorted.
func TestLists_PlansOfPages(t *testing.T) {
	t.Parallel()
	d := openDB(t, Options{Memory: true})
	for _, l := range []store.List{
		{}, {Status: store.Active}, {Status: store.Active, Order: store.ByScore}, {Status: store.Active, Order: store.ByWatchers},
	} {
		for _, variants := range [][]string{{"a"}, {"a", "b", "c", "d", "e", "f", "g", "h"}} {
			text, _ := publicPage(l, variants)
			steps := planOf(t, d, text)
			assert.Contains(t, steps, "id)<(?,?))", "%+v", l)
			assert.NotContains(t, steps, "SCAN", "%+v", l)
			assert.NotContains(t, steps, "TEMP B-TREE", "%+v", l)
		}
	}
	for _, text := range []string{challengeByID, challengesPage, challengesOfKindPage, playerPage} {
		assert.NotContains(t, planOf(t, d, text), "SCAN")
	}
	steps := planOf(t, d, movingGames)
	assert.Contains(t, steps, "SEARCH l USING COVERING INDEX listings_recent (private=? AND variant=? AND status=? AND updated>?)")
	assert.Contains(t, steps, "SEARCH l USING COVERING INDEX listings_recent (private=? AND variant>?)")
	assert.NotContains(t, steps, "TEMP B-TREE")
}
