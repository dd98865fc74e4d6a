package directory

import (
	"context"
	"encoding/binary"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gridstand/gridstand/internal/invalid"
	"github.com/gridstand/gridstand/internal/page"
	"github.com/gridstand/gridstand/server/redistest"
)

// Ensure that whatever moves between two pages, games that stay where they are
// are listed once each. Few scores make many equal ones.
func TestDirectory_Page_WhileGamesMove(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, client redis.UniversalClient) {
		d, ctx := open(client), t.Context()
		q := Query{Order: ByScore, Status: Active}
		rapid.Check(t, func(t *rapid.T) {
			require.NoError(t, client.Del(ctx, q.key()).Err())
			score := rapid.Int32Range(0, 2)
			put := func(n int) {
				l := listing(n)
				l.Score = score.Draw(t, "score")
				require.NoError(t, client.ZAdd(ctx, q.key(), redis.Z{Score: float64(l.Score), Member: l.GameID}).Err())
			}
			count := rapid.IntRange(0, 12).Draw(t, "games")
			for n := range count {
				put(n)
			}
			moved, seen := map[string]bool{}, map[string]int{}
			for token := ""; ; {
				p, err := d.Page(ctx, q, token, rapid.IntRange(1, 4).Draw(t, "size"))
				require.NoError(t, err)
				for _, gameID := range p.GameIDs {
					seen[gameID]++
				}
				if !p.More {
					break
				}
				token = p.Token(len(p.GameIDs) - 1)
				for range rapid.IntRange(0, 3).Draw(t, "moves") {
					n := rapid.IntRange(0, 15).Draw(t, "game") // Some are new.
					moved[game(n)] = true
					if rapid.Bool().Draw(t, "gone") {
						require.NoError(t, d.Forget(ctx, q, game(n)))
					} else {
						put(n)
					}
				}
			}
			for n := range count {
				if !moved[game(n)] {
					require.Equal(t, 1, seen[game(n)])
				}
			}
		})
	})
}

func TestDirectory_Page_ForeignToken(t *testing.T) {
	t.Parallel()
	d, ctx := open(redistest.NewClient(t, redistest.StartMiniredis(t).Addr())), t.Context()
	for n := range 3 {
		require.NoError(t, d.Put(ctx, listing(n)))
	}
	q := Query{Status: Active}
	p, err := d.Page(ctx, q, "", 1)
	require.NoError(t, err)
	token := p.Token(0)
	forged := func(gameID string) string {
		return page.Token(q.String(), append(binary.BigEndian.AppendUint64(nil, 1), gameID...))
	}
	for name, test := range map[string]struct {
		query Query
		token string
	}{
		"another status":  {Query{}, token},
		"another variant": {Query{Status: Active, Variant: "classic"}, token},
		"another order":   {Query{Status: Active, Order: ByScore}, token},
		"a player's":      {Query{Status: Active, PlayerID: player(1)}, token},
		"altered":         {q, token[:9] + "A" + token[10:]},
		"cut":             {q, token[1:]},
		"made up":         {q, "2"},
		"huge":            {q, strings.Repeat("A", 1<<20)},
		"no game":         {q, forged("")},
		"no game's id":    {q, forged(strings.Repeat("*", 26))},
	} {
		_, err := d.Page(ctx, test.query, test.token, 1)
		var e *invalid.Error
		require.ErrorAs(t, err, &e, name)
		assert.Equal(t, "page_token", e.Field, name)
	}
	again, err := d.Page(ctx, q, token, 9)
	require.NoError(t, err)
	assert.Equal(t, games(1, 0), again.GameIDs)
}

// Ensure pages are full however many candidates fall out, and that the last
// page has no token.
func TestCollect(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, client redis.UniversalClient) {
		d, ctx := open(client), t.Context()
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
				items, next, err := Collect(ctx, d, Query{}, token, 3, func(context.Context, Page) (map[string]int, error) {
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
		_, _, err := Collect(ctx, d, Query{}, "", 3, func(context.Context, Page) (map[string]int, error) { return nil, failure })
		require.ErrorIs(t, err, failure)
	})
}

// Ensure one call looks no more than so many candidates up, and the next goes
// on from there.
func TestCollect_GivesUp(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, client redis.UniversalClient) {
		d, ctx := open(client), t.Context()
		const count = maxScanned + 300
		listings := make([]Listing, count)
		for n := range listings {
			listings[n] = listing(n)
		}
		for batch := range slices.Chunk(listings, batchSize) {
			require.NoError(t, d.write(ctx, batch))
		}
		looked := 0
		load := func(_ context.Context, candidates Page) (map[string]int, error) {
			ids := candidates.GameIDs
			looked += len(ids)
			found := map[string]int{}
			if slices.Contains(ids, game(0)) {
				found[game(0)] = 0
			}
			return found, nil
		}
		items, token, err := Collect(ctx, d, Query{}, "", 199, load)
		require.NoError(t, err)
		assert.Empty(t, items)
		assert.Less(t, looked, count)
		require.NotEmpty(t, token)

		items, token, err = Collect(ctx, d, Query{}, token, 199, load)
		require.NoError(t, err)
		assert.Equal(t, []int{0}, items)
		assert.Equal(t, count, looked)
		assert.Empty(t, token)
	})
}
