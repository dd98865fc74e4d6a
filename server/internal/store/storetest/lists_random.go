package storetest

import (
	"cmp"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/server/internal/store"
)

var testVariants = []string{"classic", "twos", "tribolo"}

// randomListings compares the lists with a model that sorts all games, while games
// continue, gain spectators, and are removed.
func randomListings(t *testing.T, lists store.Lists, seed uint64) {
	start, model, random := now(), map[string]store.Listing{}, rand.New(rand.NewPCG(seed, 2))
	for range 5 {
		for range 12 {
			batch := map[string]store.Listing{}
			for range 1 + random.IntN(4) {
				id := gameID(random.IntN(16))
				if l, ok := model[id]; ok && random.IntN(8) == 0 {
					for _, list := range allLists([]string{"", l.Variant}, l.Players...) {
						require.NoError(t, lists.Forget(t.Context(), list, id))
					}
					delete(model, id)
					delete(batch, id)
					continue
				}
				model[id] = nextListing(model[id], id, start, random)
				batch[id] = model[id]
			}
			write(t, lists, slices.Collect(maps.Values(batch))...)
		}
		for _, l := range allLists(append(testVariants, "", "unknown"), playerID(0), playerID(1), playerID(2), playerID(3), playerID(4)) {
			requireList(t, lists, model, l)
		}
	}
	game := listing(start, 99)
	game.Score, game.Watchers = 1<<31-1, 1<<30
	write(t, lists, game)
	first, err := lists.Page(t.Context(), store.List{Order: store.ByWatchers, Status: store.Active}, store.Place{}, 1)
	require.NoError(t, err)
	require.Equal(t, []store.Place{{Rank: 1<<53 - 1, GameID: game.GameID}}, first, "the greatest rank is not exact")
}

// allLists returns all lists of the given variants and players.
func allLists(variants []string, players ...string) (all []store.List) {
	for _, variant := range variants {
		for _, status := range []store.Status{store.AnyStatus, store.Waiting, store.Active, store.Finished} {
			all = append(all, store.List{Variant: variant, Status: status})
		}
		for _, order := range []store.Order{store.ByScore, store.ByWatchers} {
			all = append(all, store.List{Variant: variant, Status: store.Active, Order: order})
		}
	}
	for _, playerID := range players {
		all = append(all, store.List{PlayerID: playerID})
	}
	return all
}

// nextListing returns the listing of a game after another event. A zero listing becomes a
// new game.
func nextListing(l store.Listing, id string, start time.Time, random *rand.Rand) store.Listing {
	if l.GameID == "" {
		l = store.Listing{
			GameID: id, Variant: testVariants[random.IntN(len(testVariants))], Private: random.IntN(4) == 0,
			Status: store.Waiting, Updated: start, Players: []string{playerID(random.IntN(3))},
		}
	}
	l.Private = l.Private && random.IntN(2) > 0
	l.Status = min(store.Finished, l.Status+store.Status(random.IntN(5)/4))
	l.Updated = l.Updated.Add(time.Duration(random.IntN(3)) * time.Millisecond)
	l.Score += random.Int32N(3)
	l.Watchers = random.IntN(3)
	if other := playerID(3); !slices.Contains(l.Players, other) && random.IntN(4) == 0 {
		l.Players = append(slices.Clone(l.Players), other)
	}
	return l
}

// requireList checks that a list has its games in its order.
func requireList(t *testing.T, lists store.Lists, games map[string]store.Listing, l store.List) {
	t.Helper()
	order := func(a, b store.Place) int {
		return cmp.Or(cmp.Compare(b.Rank, a.Rank), cmp.Compare(b.GameID, a.GameID))
	}
	var want []store.Place
	for _, g := range games {
		listed := !g.Private && (l.Status == store.AnyStatus || g.Status == l.Status) && (l.Variant == "" || g.Variant == l.Variant)
		if l.PlayerID != "" {
			listed = slices.Contains(g.Players, l.PlayerID)
		}
		if listed {
			want = append(want, store.Place{Rank: l.Rank(g), GameID: g.GameID})
		}
	}
	slices.SortFunc(want, order)
	require.Equal(t, want, places(t, lists, l), "%+v", l)

	// A page follows any place, also that of a game that has moved or was removed since.
	for _, place := range want {
		for _, after := range []store.Place{{Rank: place.Rank, GameID: gameID(0)}, {Rank: place.Rank + 1, GameID: place.GameID}} {
			page, err := lists.Page(t.Context(), l, after, len(want))
			require.NoError(t, err)
			follows := func(p store.Place) bool { return order(after, p) < 0 }
			first := slices.IndexFunc(append(want, store.Place{}), follows)
			require.Equal(t, slices.Concat(want[first:]), slices.Concat(page), "%+v after %v", l, after)
		}
	}
}
