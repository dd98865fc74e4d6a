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

	"github.com/gridstand/gridstand/internal/id"
	redistest "github.com/gridstand/gridstand/internal/testkit/redis"
	"github.com/gridstand/gridstand/server/internal/invalid"
)

// Ensure that games that do not move are listed once each, whatever moves
// between two pages. Few scores make many equal ones.
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
			for after := (Place{}); ; {
				p, err := d.Page(ctx, q, after, rapid.IntRange(1, 4).Draw(t, "size"))
				require.NoError(t, err)
				for _, gameID := range p.GameIDs {
					seen[gameID]++
				}
				if !p.More {
					break
				}
				after = p.Place(len(p.GameIDs) - 1)
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

// all looks every candidate up as one that belongs.
func all(_ context.Context, candidates Page) (map[string]string, error) {
	found := map[string]string{}
	for _, gameID := range candidates.GameIDs {
		found[gameID] = gameID
	}
	return found, nil
}

func TestCollect_ForeignToken(t *testing.T) {
	t.Parallel()
	client := redistest.NewClient(t, redistest.StartMiniredis(t).Addr())
	d, ctx := open(client), t.Context()
	for n := range 3 {
		require.NoError(t, d.Put(ctx, listing(n)))
	}
	q := Query{Status: Active, CallerID: player(1)}
	_, token, err := Collect(ctx, d, q, "", 1, all)
	require.NoError(t, err)
	sealed := func(gameID string) string {
		token, err := d.tokens.Seal(ctx, q.String(), append(make([]byte, 8), gameID...))
		require.NoError(t, err)
		return token
	}
	for name, test := range map[string]struct {
		query Query
		token string
	}{
		"another status":  {Query{CallerID: player(1)}, token},
		"another variant": {Query{Status: Active, Variant: "classic", CallerID: player(1)}, token},
		"another order":   {Query{Status: Active, Order: ByScore, CallerID: player(1)}, token},
		"a player's":      {Query{Status: Active, PlayerID: player(1), CallerID: player(1)}, token},
		"another caller":  {Query{Status: Active, CallerID: player(2)}, token},
		"no caller":       {Query{Status: Active}, token},
		"altered":         {q, token[:9] + "AB" + token[11:]},
		"cut":             {q, token[1:]},
		"made up":         {q, "2"},
		"huge":            {q, strings.Repeat("A", 1<<20)},
		"no game":         {q, sealed("")},
		"no game's id":    {q, sealed(strings.Repeat("*", 26))},
	} {
		_, _, err := Collect(ctx, d, test.query, test.token, 1, all)
		var e *invalid.Error
		require.ErrorAs(t, err, &e, name)
		assert.Equal(t, "page_token", e.Field, name)
	}
	// On another server, also for a page of another size.
	again, _, err := Collect(ctx, open(client), q, token, 9, all)
	require.NoError(t, err)
	assert.Equal(t, games(1, 0), again)
}

// FuzzPlace reads any cursor: it is refused as a field, or one that a token of
// this server holds.
func FuzzPlace(f *testing.F) {
	f.Add([]byte(nil))
	f.Add(append(make([]byte, 8), game(1)...))
	f.Add(append(make([]byte, 8), strings.Repeat("*", 26)...))
	f.Fuzz(func(t *testing.T, cursor []byte) {
		place, err := parsePlace(cursor)
		if err != nil {
			var refused *invalid.Error
			require.ErrorAs(t, err, &refused)
			return
		}
		assert.True(t, id.Valid(place.gameID))
		assert.Equal(t, cursor, append(binary.BigEndian.AppendUint64(nil, uint64(place.rank)), place.gameID...))
	})
}

// Ensure that pages are full however many candidates fall out, and that the
// last page has no token.
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

// Ensure that one call looks no more than so many candidates up, and the next
// goes on from there.
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

// Ensure that a small page of a list that hides 999 games of 1,000 takes a few
// round trips: each looked 2 games up, so that a page of one took up to 1,000.
func TestCollect_FewRoundTrips(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("lists 100,000 games")
	}
	client := redistest.NewClient(t, redistest.StartRedis(t).Addr())
	d, ctx, q := open(client), t.Context(), Query{}
	const count, oneIn = 100_000, 1000
	members := make([]redis.Z, count)
	for n := range members {
		members[n] = redis.Z{Score: float64(n), Member: game(n)}
	}
	for batch := range slices.Chunk(members, 10_000) {
		require.NoError(t, client.ZAdd(ctx, q.key(), batch...).Err())
	}
	var visible []string
	for n := count - 1; n >= 0; n-- {
		if n%oneIn == oneIn/2 {
			visible = append(visible, game(n))
		}
	}
	lookups, most, total := 0, 0, 0
	load := func(_ context.Context, candidates Page) (map[string]string, error) {
		lookups++
		found := map[string]string{}
		for _, gameID := range candidates.GameIDs {
			if slices.Contains(visible, gameID) {
				found[gameID] = gameID
			}
		}
		return found, nil
	}
	var listed []string
	for token := ""; ; {
		lookups = 0
		items, next, err := Collect(ctx, d, q, token, 1, load)
		require.NoError(t, err)
		listed, most, total = append(listed, items...), max(most, lookups), total+lookups
		if token = next; token == "" {
			break
		}
	}
	assert.Equal(t, visible, listed)
	t.Logf("%d pages of one: at most %d lookups for a page, %d for all", len(listed), most, total)
	assert.LessOrEqual(t, most, 1+maxScanned/chunk)
}
