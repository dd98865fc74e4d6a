package storetest

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/internal/id"
	"github.com/gridstand/gridstand/server/internal/store"
)

// Lists tests the contract of store.Lists.
func Lists(t *testing.T, open Open) {
	t.Run("no game moves back in time", func(t *testing.T) { notBackInTime(t, open(t).Lists) })
	t.Run("games that move", func(t *testing.T) { moving(t, open(t)) })
	t.Run("many games", func(t *testing.T) { manyGames(t, open(t).Lists) })
	t.Run("random writes", func(t *testing.T) {
		for seed := range uint64(Models) {
			randomListings(t, open(t).Lists, seed)
		}
	})
}

const month = 30 * 24 * time.Hour

// gameID returns the ID of test game n.
func gameID(n int) string { return id.Derive([]byte("game"), fmt.Append(nil, n)) }

func playerID(n int) string { return id.Derive([]byte("player"), fmt.Append(nil, n)) }

// listing returns game n, an active game of player n that was updated n ms after start.
func listing(start time.Time, n int) store.Listing {
	return store.Listing{
		GameID: gameID(n), Variant: "classic", Status: store.Active, Players: []string{playerID(n)},
		Updated: start.Add(time.Duration(n) * time.Millisecond),
	}
}

// now returns the local time to the millisecond, which is the precision of listings.
func now() time.Time { return time.UnixMilli(time.Now().UnixMilli()) }

func write(t *testing.T, lists store.Lists, listings ...store.Listing) {
	require.NoError(t, lists.Write(t.Context(), listings, month))
}

// places returns all places in a list, reading a few at a time.
func places(t *testing.T, lists store.Lists, l store.List) []store.Place {
	var all []store.Place
	for after := (store.Place{}); ; {
		page, err := lists.Page(t.Context(), l, after, 2)
		require.NoError(t, err)
		all = append(all, page...)
		if len(page) < 2 {
			return all
		}
		after = page[1]
	}
}

// listed returns the IDs of the games in a list.
func listed(t *testing.T, lists store.Lists, l store.List) []string {
	var ids []string
	for _, place := range places(t, lists, l) {
		ids = append(ids, place.GameID)
	}
	return ids
}

func notBackInTime(t *testing.T, lists store.Lists) {
	early := listing(now(), 1)
	late := early
	late.Updated = late.Updated.Add(time.Second)
	write(t, lists, late)
	write(t, lists, early)
	for _, l := range []store.List{{}, {Variant: "classic"}, {Status: store.Active}, {PlayerID: playerID(1)}} {
		assert.Equal(t, []store.Place{{Rank: late.Updated.UnixMilli(), GameID: gameID(1)}}, places(t, lists, l), "%+v", l)
	}

	// A delayed server may write an old status, but the current listing corrects it.
	finished := late
	finished.Status = store.Finished
	write(t, lists, finished)
	write(t, lists, early)
	assert.Equal(t, []string{gameID(1)}, listed(t, lists, store.List{Status: store.Finished}))
	write(t, lists, finished)
	for _, l := range []store.List{{Status: store.Active}, {Status: store.Active, Variant: "classic"}, {Status: store.Active, Order: store.ByScore}} {
		assert.Empty(t, listed(t, lists, l), "%+v", l)
	}
}

func moving(t *testing.T, s *store.Store) {
	at, err := s.Time(t.Context())
	require.NoError(t, err)
	count := func(within time.Duration) int {
		t.Helper()
		n, err := s.Lists.Moving(t.Context(), within)
		require.NoError(t, err)
		return n
	}
	assert.Zero(t, count(time.Hour))

	active := listing(at, 1)
	other, waiting, finished, private, idle := listing(at, 2), listing(at, 3), listing(at, 4), listing(at, 5), listing(at, 6)
	other.Variant, private.Private = "twos", true
	waiting.Status, finished.Status = store.Waiting, store.Finished
	idle.Updated = at.Add(-2 * time.Hour)
	write(t, s.Lists, active, other, waiting, finished, private, idle)
	assert.Equal(t, 2, count(time.Hour))
	assert.Equal(t, 3, count(3*time.Hour))

	active.Status = store.Finished
	idle.Updated = at.Add(time.Millisecond)
	write(t, s.Lists, active)
	write(t, s.Lists, idle)
	assert.Equal(t, 2, count(time.Hour))
	require.NoError(t, s.Lists.Forget(t.Context(), store.List{Status: store.Active}, idle.GameID))
	assert.Equal(t, 1, count(time.Hour))
}

func manyGames(t *testing.T, lists store.Lists) {
	start := now()
	const count = 501 // more than one call writes at once
	var listings []store.Listing
	for n := range count {
		l := listing(start.Add(-month-time.Hour), n)
		l.Status, l.Players = store.Finished, []string{playerID(1)}
		listings = append(listings, l)
	}
	require.NoError(t, lists.Write(t.Context(), listings, 0))
	write(t, lists)
	for _, l := range []store.List{{}, {PlayerID: playerID(1)}} {
		page, err := lists.Page(t.Context(), l, store.Place{}, 2*count)
		require.NoError(t, err)
		require.Len(t, page, count)
		assert.Equal(t, store.Place{Rank: listings[count-1].Updated.UnixMilli(), GameID: gameID(count - 1)}, page[0])
	}
}
