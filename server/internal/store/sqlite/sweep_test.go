package sqlite

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/server/internal/store"
)

// Ensure that the sweep removes all expired data from the file, except names, and no other data. There is
// more of each kind than one transaction removes.
func TestSweep(t *testing.T) {
	t.Parallel()
	now, ctx := time.Now(), t.Context()
	s := openStore(t, Options{Memory: true, Now: func() time.Time { return now }})
	d := s.Engine.(*engine).background
	lasting := store.Board{Variant: "classic", Window: "all"}
	expiring := store.Board{Variant: "classic", Window: "day", Expires: now.Add(time.Hour)}
	const many = sweepRows + 1
	for n := range many + 1 {
		id, keep, on := fmt.Sprint(n), time.Hour, expiring
		c := store.Challenge{ID: id, Kind: 2, Listed: n%2 == 0, Created: now, Expires: now.Add(time.Hour)}
		if n == many {
			keep, on, c.Expires = 0, lasting, now.Add(2*time.Hour)
		}
		_, err := s.Accounts.Create(ctx, store.Account{ID: id, Name: id}, keep)
		require.NoError(t, err)
		require.NoError(t, s.Challenges.Update(ctx, c))
		require.NoError(t, s.Boards.Record(ctx, store.BoardEntry{PlayerID: id, Score: int32(n), Member: id}, on))
	}
	play(t, s, "a", 1, many)
	play(t, s, "b", 1, 2)
	require.NoError(t, s.Games.Expire(ctx, now.Add(time.Hour), "a"))
	for _, id := range []string{"a", "b"} {
		l := store.Listing{GameID: id, Status: store.Finished, Updated: now, Players: []string{"0", "1"}}
		require.NoError(t, s.Lists.Write(ctx, []store.Listing{l}, time.Hour))
	}
	requireRows := func(want map[string]int) {
		t.Helper()
		require.NoError(t, d.sweep(ctx))
		for table, n := range want {
			assert.Equal(t, []int{n}, numbers(t, d, "SELECT count(*) FROM "+table), table)
		}
	}
	requireRows(map[string]int{
		"accounts": many + 1, "challenges": many + 1, "boards": 2, "scores": many + 1, "games": 2, "entries": many + 2,
		"listings": 2, "player_listings": 4,
	})
	now = now.Add(time.Hour)
	requireRows(map[string]int{
		"accounts": 1, "challenges": 1, "boards": 1, "scores": 1, "score_ranges": 1, "games": 1, "entries": 2, "names": many + 1,
		"listings": 1, "player_listings": 2,
	})
	assert.Equal(t, []int{many}, numbers(t, d, "SELECT id FROM challenges"))
}
