package storetest

import (
	"cmp"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gridstand/gridstand/server/internal/store"
)

// pagesWhileGamesMove checks that while a list is read in pages, each game that keeps its
// place is listed exactly once, no matter which other games move between pages. There are
// only a few different scores, so that many games have the same score.
func pagesWhileGamesMove(t *testing.T, lists store.Lists) {
	start, l := now(), store.List{Order: store.ByScore, Status: store.Active}
	rapid.Check(t, func(t *rapid.T) {
		ctx := t.Context()
		require.NoError(t, lists.Forget(ctx, l, gameIDs(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15)...))
		score := rapid.Int32Range(0, 2)
		put := func(n int) {
			game := listing(start, n)
			game.Score = score.Draw(t, "score")
			write(t, lists, game)
		}
		count := rapid.IntRange(0, 12).Draw(t, "games")
		for n := range count {
			put(n)
		}
		moved, seen := map[string]bool{}, map[string]int{}
		for after := (store.Place{}); ; {
			n := rapid.IntRange(1, 4).Draw(t, "size")
			page, err := lists.Page(ctx, l, after, n)
			require.NoError(t, err)
			for _, place := range page {
				seen[place.GameID]++
			}
			if len(page) < n {
				break
			}
			after = page[n-1]
			for range rapid.IntRange(0, 3).Draw(t, "moves") {
				n := rapid.IntRange(0, 15).Draw(t, "game") // The game may be new.
				moved[gameID(n)] = true
				if rapid.Bool().Draw(t, "gone") {
					require.NoError(t, lists.Forget(ctx, l, gameID(n)))
				} else {
					put(n)
				}
			}
		}
		for n := range count {
			if !moved[gameID(n)] {
				require.Equal(t, 1, seen[gameID(n)])
			}
		}
	})
}

// randomListings compares the lists with a model that sorts all games, while games
// continue, gain spectators, and are removed.
func randomListings(t *testing.T, open Open) {
	variants := []string{"classic", "twos", "tribolo"}
	lists, start := open(t).Lists, now()
	offset := 0
	rapid.Check(t, func(t *rapid.T) {
		ctx := t.Context()
		model := map[string]store.Listing{}
		offset += 100 // use new games in each run
		defer func() {
			for _, l := range model {
				require.NoError(t, lists.Remove(ctx, l))
			}
		}()
		for range rapid.IntRange(1, 15).Draw(t, "steps") {
			batch := map[string]store.Listing{}
			for range rapid.IntRange(1, 4).Draw(t, "games") {
				n := rapid.IntRange(0, 7).Draw(t, "game")
				l, ok := model[gameID(offset+n)]
				if ok && rapid.IntRange(0, 9).Draw(t, "remove") == 0 {
					require.NoError(t, lists.Remove(ctx, l))
					delete(model, l.GameID)
					delete(batch, l.GameID)
					continue
				}
				if !ok {
					l = store.Listing{
						GameID: gameID(offset + n), Variant: rapid.SampledFrom(variants).Draw(t, "variant"),
						Private: rapid.IntRange(0, 3).Draw(t, "private") == 0, Status: store.Waiting, Updated: start,
						Players: []string{playerID(n % 3)},
					}
				}
				l.Status = min(store.Finished, l.Status+store.Status(rapid.IntRange(0, 3).Draw(t, "status")/2))
				l.Updated = l.Updated.Add(time.Duration(rapid.IntRange(0, 2).Draw(t, "ms")) * time.Millisecond)
				l.Score += rapid.Int32Range(0, 2).Draw(t, "score")
				l.Watchers = rapid.IntRange(0, 2).Draw(t, "watchers")
				if other := playerID(3); !slices.Contains(l.Players, other) && rapid.Bool().Draw(t, "joins") {
					l.Players = append(slices.Clone(l.Players), other)
				}
				model[l.GameID], batch[l.GameID] = l, l
			}
			var listings []store.Listing
			for _, l := range batch {
				listings = append(listings, l)
			}
			write(t, lists, listings...)
		}
		l := store.List{Variant: rapid.SampledFrom(append(variants, "")).Draw(t, "variant of the list")}
		for _, l.Status = range []store.Status{store.AnyStatus, store.Waiting, store.Active, store.Finished} {
			require.Equal(t, modelPlaces(model, l), places(t, lists, l), "%+v", l)
		}
		l.Status = store.Active
		for _, l.Order = range []store.Order{store.ByScore, store.ByWatchers} {
			require.Equal(t, modelPlaces(model, l), places(t, lists, l), "%+v", l)
		}
		for n := range 4 {
			l := store.List{PlayerID: playerID(n)}
			require.Equal(t, modelPlaces(model, l), places(t, lists, l), "%+v", l)
		}
	})
}

// modelPlaces returns a list's expected content.
func modelPlaces(games map[string]store.Listing, l store.List) []store.Place {
	var places []store.Place
	for _, g := range games {
		listed := !g.Private && (l.Status == store.AnyStatus || g.Status == l.Status) && (l.Variant == "" || g.Variant == l.Variant)
		if l.PlayerID != "" {
			listed = slices.Contains(g.Players, l.PlayerID)
		}
		if listed {
			places = append(places, store.Place{Rank: l.Rank(g), GameID: g.GameID})
		}
	}
	slices.SortFunc(places, func(a, b store.Place) int {
		return cmp.Or(cmp.Compare(b.Rank, a.Rank), cmp.Compare(b.GameID, a.GameID))
	})
	return places
}
