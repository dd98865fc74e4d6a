package storetest

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/internal/id"
	"github.com/gridstand/gridstand/server/internal/store"
)

// Lists tests the contract of store.Lists.
func Lists(t *testing.T, open Open) {
	t.Run("each list has its games in its order", func(t *testing.T) { eachList(t, open(t).Lists) })
	t.Run("a game leaves the lists of earlier statuses", func(t *testing.T) { listsOfStatuses(t, open(t).Lists) })
	t.Run("no game moves back in time", func(t *testing.T) { notBackInTime(t, open(t).Lists) })
	t.Run("a listing replaces score and watchers", func(t *testing.T) { replaceRanks(t, open(t).Lists) })
	t.Run("equal ranks are ordered by id", func(t *testing.T) { equalRanks(t, open(t).Lists) })
	t.Run("pages continue after a game that moved or was removed", func(t *testing.T) { pagesContinue(t, open(t).Lists) })
	t.Run("pages while games move", func(t *testing.T) { pagesWhileGamesMove(t, open(t).Lists) })
	t.Run("games that move", func(t *testing.T) { moving(t, open(t)) })
	t.Run("remove", func(t *testing.T) { removeFromLists(t, open(t).Lists) })
	t.Run("forget", func(t *testing.T) { forget(t, open(t).Lists) })
	t.Run("trim", func(t *testing.T) { trim(t, open(t)) })
	t.Run("trim of games that are kept forever", func(t *testing.T) { trimNothing(t, open(t)) })
	t.Run("many at once", func(t *testing.T) { writeMany(t, open(t).Lists) })
	t.Run("random writes", func(t *testing.T) { randomListings(t, open) })
}

const month = 30 * 24 * time.Hour

// gameID returns the ID of test game n.
func gameID(n int) string { return id.Derive([]byte("game"), fmt.Append(nil, n)) }

func playerID(n int) string { return id.Derive([]byte("player"), fmt.Append(nil, n)) }

func gameIDs(numbers ...int) []string {
	var ids []string
	for _, n := range numbers {
		ids = append(ids, gameID(n))
	}
	return ids
}

// listing returns game n, an active game of player n that was updated n ms after start.
func listing(start time.Time, n int) store.Listing {
	return store.Listing{
		GameID: gameID(n), Variant: "classic", Status: store.Active, Players: []string{playerID(n)},
		Updated: start.Add(time.Duration(n) * time.Millisecond),
	}
}

// now returns the local time to the millisecond, which is the precision of listings.
func now() time.Time { return time.UnixMilli(time.Now().UnixMilli()) }

// tester is implemented by *testing.T and *rapid.T.
type tester interface {
	require.TestingT
	Context() context.Context
}

func write(t tester, lists store.Lists, listings ...store.Listing) {
	require.NoError(t, lists.Write(t.Context(), listings, month))
}

// places returns all places in a list, reading a few at a time.
func places(t tester, lists store.Lists, l store.List) []store.Place {
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
func listed(t tester, lists store.Lists, l store.List) []string {
	var ids []string
	for _, place := range places(t, lists, l) {
		ids = append(ids, place.GameID)
	}
	return ids
}

func eachList(t *testing.T, lists store.Lists) {
	start := now()
	for i, l := range []store.Listing{
		{GameID: gameID(1), Variant: "classic", Status: store.Waiting, Players: []string{playerID(1)}},
		{GameID: gameID(2), Variant: "classic", Status: store.Active, Score: 4, Watchers: 3, Players: []string{playerID(1), playerID(2)}},
		{GameID: gameID(3), Variant: "twos", Status: store.Active, Score: 2000, Watchers: 2, Players: []string{playerID(2)}},
		{GameID: gameID(4), Variant: "classic", Status: store.Active, Score: 300, Watchers: 3},
		{GameID: gameID(5), Variant: "classic", Status: store.Finished, Score: 5000, Watchers: 9, Players: []string{playerID(1)}},
		{GameID: gameID(6), Variant: "classic", Status: store.Active, Score: 9000, Watchers: 9, Private: true, Players: []string{playerID(1)}},
		{GameID: gameID(7), Variant: "twos", Status: store.Active, Score: 1, Players: []string{playerID(4)}},
	} {
		l.Updated = start.Add(time.Duration(i) * time.Second)
		write(t, lists, l)
	}
	for _, test := range []struct {
		list store.List
		want []string
	}{
		{store.List{}, gameIDs(7, 5, 4, 3, 2, 1)},
		{store.List{Variant: "classic"}, gameIDs(5, 4, 2, 1)},
		{store.List{Variant: "twos"}, gameIDs(7, 3)},
		{store.List{Variant: "nothing"}, nil},
		{store.List{Status: store.Waiting}, gameIDs(1)},
		{store.List{Status: store.Active}, gameIDs(7, 4, 3, 2)},
		{store.List{Status: store.Active, Variant: "classic"}, gameIDs(4, 2)},
		{store.List{Status: store.Finished}, gameIDs(5)},
		{store.List{Status: store.Finished, Variant: "twos"}, nil},
		{store.List{Status: store.Active, Order: store.ByScore}, gameIDs(3, 4, 2, 7)},
		{store.List{Status: store.Active, Order: store.ByScore, Variant: "classic"}, gameIDs(4, 2)},
		{store.List{Status: store.Active, Order: store.ByWatchers}, gameIDs(4, 2, 3, 7)},
		{store.List{Status: store.Active, Order: store.ByWatchers, Variant: "twos"}, gameIDs(3, 7)},
		{store.List{PlayerID: playerID(1)}, gameIDs(6, 5, 2, 1)},
		{store.List{PlayerID: playerID(2)}, gameIDs(3, 2)},
		{store.List{PlayerID: playerID(2), Status: store.Waiting, Variant: "classic"}, gameIDs(3, 2)}, // a player's list includes all statuses and variants
		{store.List{PlayerID: playerID(3)}, nil},
	} {
		assert.Equal(t, test.want, listed(t, lists, test.list), "%+v", test.list)
	}
}

// listsWith returns the names of the lists that contain a game.
func listsWith(t *testing.T, lists store.Lists, gameID string) map[string]bool {
	t.Helper()
	with := map[string]bool{}
	for name, l := range map[string]store.List{
		"any": {}, "waiting": {Status: store.Waiting}, "active": {Status: store.Active}, "finished": {Status: store.Finished},
		"score": {Status: store.Active, Order: store.ByScore}, "watchers": {Status: store.Active, Order: store.ByWatchers},
		"player": {PlayerID: playerID(1)},
	} {
		found := slices.Contains(listed(t, lists, l), gameID)
		l.Variant = "classic"
		assert.Equal(t, found, slices.Contains(listed(t, lists, l), gameID), "the list of the variant differs: %s", name)
		if found {
			with[name] = true
		}
	}
	return with
}

func listsOfStatuses(t *testing.T, lists store.Lists) {
	game := listing(now(), 1)
	for _, step := range []struct {
		status store.Status
		want   map[string]bool
	}{
		{store.Waiting, map[string]bool{"any": true, "waiting": true, "player": true}},
		{store.Active, map[string]bool{"any": true, "active": true, "score": true, "watchers": true, "player": true}},
		{store.Finished, map[string]bool{"any": true, "finished": true, "player": true}},
	} {
		game.Status, game.Updated = step.status, game.Updated.Add(time.Second)
		for range 2 {
			write(t, lists, game)
			assert.Equal(t, step.want, listsWith(t, lists, gameID(1)))
		}
	}
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
	assert.Contains(t, listed(t, lists, store.List{Status: store.Finished}), gameID(1))
	write(t, lists, finished)
	assert.Equal(t, map[string]bool{"any": true, "finished": true, "player": true}, listsWith(t, lists, gameID(1)))
}

func replaceRanks(t *testing.T, lists store.Lists) {
	game := listing(now(), 1)
	for range 3 {
		game.Score += 7
		game.Watchers = 5 - game.Watchers
		write(t, lists, game)
		for _, order := range []store.Order{store.ByScore, store.ByWatchers} {
			l := store.List{Order: order, Status: store.Active}
			assert.Equal(t, []store.Place{{Rank: l.Rank(game), GameID: game.GameID}}, places(t, lists, l))
		}
	}
	game.Score, game.Watchers = 1<<31-1, 1<<30
	write(t, lists, game)
	l := store.List{Order: store.ByWatchers, Status: store.Active}
	assert.Equal(t, []store.Place{{Rank: 1<<53 - 1, GameID: game.GameID}}, places(t, lists, l), "the greatest rank is not exact")
}

func equalRanks(t *testing.T, lists store.Lists) {
	var want []string
	var listings []store.Listing
	start := now()
	for n := range 9 {
		game := listing(start, n)
		game.Updated, game.Watchers, game.Players = start, n%2*4, []string{playerID(1)}
		want, listings = append(want, game.GameID), append(listings, game)
	}
	write(t, lists, listings...)
	slices.Sort(want)
	slices.Reverse(want)
	for _, l := range []store.List{
		{}, {Status: store.Active, Variant: "classic"}, {Status: store.Active, Order: store.ByScore}, {PlayerID: playerID(1)},
	} {
		assert.Equal(t, want, listed(t, lists, l), "%+v", l)
	}
}

func pagesContinue(t *testing.T, lists store.Lists) {
	ctx, start := t.Context(), now()
	for n := range 6 {
		game := listing(start, n)
		game.Score = int32(n / 2)
		write(t, lists, game)
	}
	l := store.List{Order: store.ByScore, Status: store.Active}
	first, err := lists.Page(ctx, l, store.Place{}, 3)
	require.NoError(t, err)
	require.Len(t, first, 3)
	want, err := lists.Page(ctx, l, first[2], 9)
	require.NoError(t, err)
	require.Len(t, want, 3)
	follows := func(what string) {
		t.Helper()
		rest, err := lists.Page(ctx, l, first[2], 9)
		require.NoError(t, err)
		assert.Equal(t, want, rest, what)
	}
	moved := store.Listing{GameID: first[2].GameID, Variant: "classic", Status: store.Active, Score: 100, Updated: start.Add(time.Hour)}
	write(t, lists, moved)
	follows("it moved up")
	require.NoError(t, lists.Forget(ctx, l, moved.GameID))
	follows("it was removed")

	none, err := lists.Page(ctx, l, want[2], 9)
	require.NoError(t, err)
	assert.Empty(t, none)
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
	require.NoError(t, s.Lists.Remove(t.Context(), idle))
	assert.Equal(t, 1, count(time.Hour))
}

func removeFromLists(t *testing.T, lists store.Lists) {
	start := now()
	for _, status := range []store.Status{store.Waiting, store.Active, store.Finished} {
		game := listing(start, 1)
		game.Status = status
		write(t, lists, game, listing(start, 2))
		for range 2 {
			require.NoError(t, lists.Remove(t.Context(), game))
			assert.Empty(t, listsWith(t, lists, gameID(1)))
		}
		assert.Equal(t, gameIDs(2), listed(t, lists, store.List{}))
	}
}

func forget(t *testing.T, lists store.Lists) {
	start := now()
	write(t, lists, listing(start, 0), listing(start, 1), listing(start, 2))
	for _, l := range []store.List{
		{Order: store.ByWatchers, Variant: "classic", Status: store.Active}, {Status: store.Active}, {},
	} {
		for range 2 {
			require.NoError(t, lists.Forget(t.Context(), l, gameIDs(0, 2)...))
		}
		require.NoError(t, lists.Forget(t.Context(), l))
		assert.Equal(t, gameIDs(1), listed(t, lists, l))
	}
	mine := store.List{PlayerID: playerID(1)}
	require.NoError(t, lists.Forget(t.Context(), mine, gameID(1)))
	assert.Empty(t, listed(t, lists, mine))
}

func trim(t *testing.T, s *store.Store) {
	start, lists := now(), s.Lists
	old, young := listing(start, 1), listing(start, 2)
	old.Status, young.Status = store.Finished, store.Finished
	old.Updated, young.Updated = start.Add(-month-time.Hour), start.Add(-month+time.Hour)
	write(t, lists, young)
	write(t, lists, old)
	require.NoError(t, lists.Trim(t.Context(), []string{"classic"}, month))
	for _, l := range []store.List{{}, {Variant: "classic"}, {Status: store.Finished}, {Status: store.Finished, Variant: "classic"}} {
		assert.Equal(t, gameIDs(2), listed(t, lists, l), "%+v", l)
	}
	assert.Equal(t, gameIDs(2), listed(t, lists, store.List{PlayerID: playerID(2)}))
}

func trimNothing(t *testing.T, s *store.Store) {
	start, ctx := now(), t.Context()
	old, young := listing(start, 1), listing(start, 2)
	old.Status, young.Status = store.Finished, store.Finished
	old.Updated, old.Players = start.AddDate(-10, 0, 0), young.Players
	require.NoError(t, s.Lists.Write(ctx, []store.Listing{old, young}, 0))
	require.NoError(t, s.Lists.Trim(ctx, []string{"classic"}, 0))
	assert.Equal(t, gameIDs(2, 1), listed(t, s.Lists, store.List{}))
	assert.Equal(t, gameIDs(2, 1), listed(t, s.Lists, store.List{PlayerID: playerID(2)}))
}

func writeMany(t *testing.T, lists store.Lists) {
	start := now()
	const count = 1201
	var listings []store.Listing
	for n := range count {
		listings = append(listings, listing(start, n))
	}
	write(t, lists, listings...)
	write(t, lists)
	page, err := lists.Page(t.Context(), store.List{Variant: "classic"}, store.Place{}, 2*count)
	require.NoError(t, err)
	require.Len(t, page, count)
	assert.Equal(t, store.Place{Rank: listings[count-1].Updated.UnixMilli(), GameID: gameID(count - 1)}, page[0])
}
