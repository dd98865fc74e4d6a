package directory

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/server/internal/invalid"
	"github.com/gridstand/gridstand/server/internal/store"
	"github.com/gridstand/gridstand/server/internal/store/storetest"
)

// all is a load function that returns every candidate.
func all(_ context.Context, candidates []store.Place) (map[string]string, error) {
	found := map[string]string{}
	for _, c := range candidates {
		found[c.GameID] = c.GameID
	}
	return found, nil
}

func TestCollect_ForeignToken(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		tokens := newTokens(t)
		d, ctx := openWith(s.Lists, tokens), t.Context()
		for n := range 3 {
			require.NoError(t, d.Put(ctx, listing(n)))
		}
		l, caller := store.List{Status: store.Active}, player(1)
		_, token, err := Collect(ctx, d, l, caller, "", 1, all)
		require.NoError(t, err)
		query := fmt.Sprintf("games 0 2 %q %q %q", "", "", caller)
		sealed := func(gameID string) string {
			token, err := tokens.Seal(ctx, query, append(make([]byte, 8), gameID...))
			require.NoError(t, err)
			return token
		}
		other := "A"
		if token[9] == 'A' {
			other = "B"
		}
		for name, test := range map[string]struct {
			list          store.List
			caller, token string
		}{
			"another status":    {store.List{}, caller, token},
			"another variant":   {store.List{Status: store.Active, Variant: "classic"}, caller, token},
			"another order":     {store.List{Status: store.Active, Order: store.ByScore}, caller, token},
			"a player's list":   {store.List{Status: store.Active, PlayerID: player(1)}, caller, token},
			"another caller":    {l, player(2), token},
			"no caller":         {l, "", token},
			"altered":           {l, caller, token[:9] + other + token[10:]},
			"truncated":         {l, caller, token[1:]},
			"made up":           {l, caller, "2"},
			"huge":              {l, caller, strings.Repeat("A", 1<<20)},
			"no game":           {l, caller, sealed("")},
			"malformed game id": {l, caller, sealed(strings.Repeat("*", 26))},
		} {
			_, _, err := Collect(ctx, d, test.list, test.caller, test.token, 1, all)
			var e *invalid.Error
			require.ErrorAs(t, err, &e, name)
			assert.Equal(t, "page_token", e.Field, name)
		}
		// The token works on another server, and with a different page size.
		again, _, err := Collect(ctx, openWith(s.Background.Lists, tokens), l, caller, token, 9, all)
		require.NoError(t, err)
		assert.Equal(t, games(1, 0), again)
		_, _, err = Collect(ctx, d, l, caller, sealed(game(0)), 9, all)
		require.NoError(t, err, "a sealed token for the right query is valid")
	})
}

// Ensure that pages are full however many candidates are omitted, and that the last page has
// no token.
func TestCollect(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		d, ctx := open(t, s.Lists), t.Context()
		for n := range 20 {
			require.NoError(t, d.Put(ctx, listing(n)))
		}
		for name, keep := range map[string]func(n int) bool{
			"all":         func(int) bool { return true },
			"none":        func(int) bool { return false },
			"some":        func(n int) bool { return n%3 == 1 },
			"the oldest":  func(n int) bool { return n < 4 },
			"the latest":  func(n int) bool { return n >= 16 },
			"just a page": func(n int) bool { return n >= 17 },
		} {
			var want []int
			load := map[string]int{}
			for n := 19; n >= 0; n-- {
				if keep(n) {
					want, load[game(n)] = append(want, n), n
				}
			}
			var got []int
			for token := ""; ; {
				items, next, err := Collect(ctx, d, store.List{}, "", token, 3, func(context.Context, []store.Place) (map[string]int, error) {
					return load, nil
				})
				require.NoError(t, err, name)
				got = append(got, items...)
				if token = next; token == "" {
					break
				}
				require.Len(t, items, 3, name)
			}
			assert.Equal(t, want, got, name)
		}

		failure := errors.New("no head")
		_, _, err := Collect(ctx, d, store.List{}, "", "", 3, func(context.Context, []store.Place) (map[string]int, error) { return nil, failure })
		require.ErrorIs(t, err, failure)
	})
}

// Ensure that one call looks up a limited number of candidates and that the next call
// continues from there.
func TestCollect_GivesUp(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("too slow for -short")
	}
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		d, ctx := open(t, s.Lists), t.Context()
		const count = maxScanned + 300
		listings := make([]store.Listing, count)
		for n := range listings {
			listings[n] = listing(n)
		}
		require.NoError(t, d.Enter(ctx, listings))
		lookedUp := 0
		load := func(_ context.Context, candidates []store.Place) (map[string]int, error) {
			lookedUp += len(candidates)
			return map[string]int{game(0): 0}, nil
		}
		items, token, err := Collect(ctx, d, store.List{}, "", "", 199, load)
		require.NoError(t, err)
		assert.Empty(t, items)
		assert.Less(t, lookedUp, count)
		require.NotEmpty(t, token)

		items, token, err = Collect(ctx, d, store.List{}, "", token, 199, load)
		require.NoError(t, err)
		assert.Equal(t, []int{0}, items)
		assert.Equal(t, count, lookedUp)
		assert.Empty(t, token)
	})
}

// Ensure that a small page takes few round trips even if 999 of 1,000 games are hidden. With
// only two games per lookup, a page of one game could take up to 1,000 round trips.
func TestCollect_FewRoundTrips(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("too slow for -short")
	}
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		d, ctx := open(t, s.Lists), t.Context()
		const count, oneIn = 5000, 1000
		listings := make([]store.Listing, count)
		visible := map[string]string{}
		var want []string
		for n := range listings {
			listings[n] = listing(n)
			if n%oneIn == oneIn/2 {
				visible[game(n)] = game(n)
				want = append(want, game(n))
			}
		}
		slices.Reverse(want)
		require.NoError(t, d.Enter(ctx, listings))
		lookups, most := 0, 0
		load := func(context.Context, []store.Place) (map[string]string, error) {
			lookups++
			return visible, nil
		}
		var listed []string
		for token := ""; ; {
			lookups = 0
			items, next, err := Collect(ctx, d, store.List{}, "", token, 1, load)
			require.NoError(t, err)
			listed, most = append(listed, items...), max(most, lookups)
			if token = next; token == "" {
				break
			}
		}
		assert.Equal(t, want, listed)
		assert.LessOrEqual(t, most, 1+maxScanned/chunk)
	})
}
