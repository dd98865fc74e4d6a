package sqlite

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	sqlite3 "zombiezen.com/go/sqlite"

	"github.com/gridstand/gridstand/server/internal/store"
)

// Ensure that a listing older than the stored one is ignored.
func TestLists_OldListing(t *testing.T) {
	t.Parallel()
	s, ctx := lists{openDB(t, Options{Memory: true})}, t.Context()
	at := time.UnixMilli(2000)
	old := store.Listing{GameID: "g", Variant: "v", Status: store.Active, Score: 1, Updated: at.Add(-time.Second), Players: []string{"p"}}
	latest, finished := old, old
	latest.Updated, latest.Score, finished.Updated, finished.Status = at, 2, at, store.Finished
	require.NoError(t, s.Write(ctx, []store.Listing{latest}, 0))
	require.NoError(t, s.Write(ctx, []store.Listing{old}, 0))
	page, err := s.Page(ctx, store.List{Order: store.ByScore}, store.Place{}, 9)
	require.NoError(t, err)
	assert.Equal(t, []store.Place{{Rank: 2, GameID: "g"}}, page)
	require.NoError(t, s.Write(ctx, []store.Listing{finished}, 0))
	require.NoError(t, s.Write(ctx, []store.Listing{latest}, 0))
	for l, want := range map[store.List]int{{Order: store.ByScore}: 0, {Status: store.Active}: 0, {Status: store.Finished}: 1, {PlayerID: "p"}: 1} {
		page, err := s.Page(ctx, l, store.Place{}, 9)
		require.NoError(t, err)
		assert.Len(t, page, want, "%+v", l)
	}
}

// Ensure that Trim removes all old games, including private ones, from all lists,
// including players' lists, in as many transactions as necessary.
func TestLists_Trim(t *testing.T) {
	t.Parallel()
	now := time.Now()
	d := openDB(t, Options{Memory: true, Now: func() time.Time { return now }})
	s, ctx := lists{d}, t.Context()
	var listings []store.Listing
	for n := range 3*maxListings + 2 {
		listings = append(listings, store.Listing{
			GameID: fmt.Sprint("game ", n), Variant: fmt.Sprint(n % 3), Status: store.Finished, Private: n%5 == 0,
			Updated: now.Add(-time.Hour), Players: []string{"p"},
		})
	}
	listings[0].Updated, listings[1].Status = now.Add(-59*time.Minute), store.Active
	require.NoError(t, s.Write(ctx, listings, time.Hour))
	now = now.Add(time.Millisecond)
	require.NoError(t, s.Trim(ctx, nil, time.Hour))
	page, err := s.Page(ctx, store.List{PlayerID: "p"}, store.Place{}, 9)
	require.NoError(t, err)
	assert.Equal(t, []store.Place{
		{Rank: listings[0].Updated.UnixMilli(), GameID: "game 0"}, {Rank: listings[1].Updated.UnixMilli(), GameID: "game 1"},
	}, page)
	assert.Equal(t, []int{2}, counted(t, d, "SELECT count(*) FROM listings"))
	assert.Equal(t, []int{2}, counted(t, d, "SELECT count(*) FROM player_listings"))
}

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
	assert.Equal(t, "SEARCH listings USING COVERING INDEX listings_recent (private=? AND variant=? AND status=? AND updated>?)", planOf(t, d, movingGames))
	assert.Equal(t, "SEARCH challenges USING PRIMARY KEY (id=?)", planOf(t, d, challengeByID))
	assert.Equal(t, "SEARCH challenges USING INDEX challenges_recent ((created,id)<(?,?))", planOf(t, d, challengesPage))
	assert.Equal(t, "SEARCH challenges USING INDEX challenges_kind (kind=? AND (created,id)<(?,?))", planOf(t, d, challengesOfKindPage))
	assert.Equal(t, strings.TrimSpace(`
MERGE (UNION ALL)
LEFT
SEARCH p USING COVERING INDEX player_listings_recent (player=? AND finished=?)
SEARCH l USING INDEX sqlite_autoindex_listings_1 (id=?)
USE TEMP B-TREE FOR ORDER BY
RIGHT
SEARCH player_listings USING COVERING INDEX player_listings_recent (player=? AND (finished,id)<(?,?))`), planOf(t, d, playerPage))
}
