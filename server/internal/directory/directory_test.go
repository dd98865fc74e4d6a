package directory

import (
	"fmt"
	"log/slog"
	"slices"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/internal/id"
	redistest "github.com/gridstand/gridstand/internal/testkit/redis"
	"github.com/gridstand/gridstand/internal/testkit/testmain"
)

func TestMain(m *testing.M) { testmain.Run(m, redistest.StillDialing) }

const month = 30 * 24 * time.Hour

func open(client redis.UniversalClient) *Directory {
	return New(client, client, month, slog.New(slog.DiscardHandler))
}

// game makes a game's id that is easy to tell from others.
func game(n int) string { return id.Derive([]byte("game"), []byte(fmt.Sprint(n))) }

func player(n int) string { return id.Derive([]byte("player"), []byte(fmt.Sprint(n))) }

// start is when test games begin.
var start = time.Now().Truncate(time.Millisecond)

// listing is game n, an active one of player n that is n ms younger than start.
func listing(n int) Listing {
	return Listing{
		GameID: game(n), Variant: "classic", Status: Active, Players: []string{player(n)},
		Updated: start.Add(time.Duration(n) * time.Millisecond),
	}
}

// list returns all candidates of q, read a few at a time.
func list(t *testing.T, d *Directory, q Query) []string {
	t.Helper()
	var ids []string
	for after := (Place{}); ; {
		p, err := d.Page(t.Context(), q, after, 2)
		require.NoError(t, err)
		ids = append(ids, p.GameIDs...)
		if !p.More {
			return ids
		}
		after = p.Place(1)
	}
}

func games(numbers ...int) []string {
	var ids []string
	for _, n := range numbers {
		ids = append(ids, game(n))
	}
	return ids
}

// Ensure that everything here runs on a cluster, on which no script may touch
// two slots.
func TestCluster(t *testing.T) {
	t.Parallel()
	d, ctx := open(redistest.StartCluster(t, 1).Client()), t.Context()
	require.NoError(t, d.Put(ctx, listing(1)))
	d.Touch(listing(2))
	require.NoError(t, d.flush(ctx))
	require.NoError(t, d.Trim(ctx, []string{"classic"}))
	require.NoError(t, d.Forget(ctx, Query{}, game(1)))
	assert.Equal(t, games(2), list(t, d, Query{}))
	assert.Equal(t, games(2, 1), list(t, d, Query{Variant: "classic", Status: Active}))
}

// Ensure that each query lists the games that belong to it, in its order.
func TestDirectory_Page(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, client redis.UniversalClient) {
		d := open(client)
		for i, l := range []Listing{
			{GameID: game(1), Variant: "classic", Status: Waiting, Players: []string{player(1)}},
			{GameID: game(2), Variant: "classic", Status: Active, Score: 4, Watchers: 3, Players: []string{player(1), player(2)}},
			{GameID: game(3), Variant: "twos", Status: Active, Score: 2000, Watchers: 2, Players: []string{player(2), player(2), ""}},
			{GameID: game(4), Variant: "classic", Status: Active, Score: 300, Watchers: 3},
			{GameID: game(5), Variant: "classic", Status: Finished, Score: 5000, Watchers: 9, Players: []string{player(1)}},
			{GameID: game(6), Variant: "classic", Status: Active, Score: 9000, Watchers: 9, Private: true, Players: []string{player(1)}},
		} {
			l.Updated = start.Add(time.Duration(i) * time.Second)
			require.NoError(t, d.Put(t.Context(), l))
		}
		for _, test := range []struct {
			query Query
			want  []string
		}{
			{Query{}, games(5, 4, 3, 2, 1)},
			{Query{Variant: "classic"}, games(5, 4, 2, 1)},
			{Query{Variant: "twos"}, games(3)},
			{Query{Variant: "nothing"}, nil},
			{Query{Status: Waiting}, games(1)},
			{Query{Status: Active}, games(4, 3, 2)},
			{Query{Status: Active, Variant: "classic"}, games(4, 2)},
			{Query{Status: Finished}, games(5)},
			{Query{Status: Finished, Variant: "twos"}, nil},
			{Query{Status: Active, Order: ByScore}, games(3, 4, 2)},
			{Query{Status: Active, Order: ByScore, Variant: "classic"}, games(4, 2)},
			{Query{Status: Active, Order: ByWatchers}, games(4, 2, 3)},
			{Query{Status: Active, Order: ByWatchers, Variant: "twos"}, games(3)},
			{Query{PlayerID: player(1)}, games(6, 5, 2, 1)},
			{Query{PlayerID: player(2), Status: Active, Variant: "twos"}, games(3, 2)}, // For the caller to filter.
			{Query{PlayerID: player(3)}, nil},
			{Query{PlayerID: "nobody"}, nil},
		} {
			assert.Equal(t, test.want, list(t, d, test.query), test.query.String())
		}
	})
}

// Ensure that a game that goes on leaves the lists of its past.
func TestDirectory_Put_Status(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, client redis.UniversalClient) {
		d, ctx := open(client), t.Context()
		queries := []Query{
			{Status: Waiting}, {Status: Active}, {Status: Finished}, {}, {Order: ByScore}, {Order: ByWatchers}, {PlayerID: player(1)},
		}
		requireIn := func(want ...bool) {
			t.Helper()
			for i, q := range queries {
				for _, q.Variant = range []string{"", "classic"} {
					require.Equal(t, want[i], slices.Contains(list(t, d, q), game(1)), q.String())
				}
			}
		}
		waiting, active, finished := listing(1), listing(1), listing(1)
		waiting.Status, finished.Status = Waiting, Finished
		active.Updated, finished.Updated = start.Add(time.Second), start.Add(2*time.Second)

		for range 2 { // Putting is idempotent.
			require.NoError(t, d.Put(ctx, waiting))
			requireIn(true, false, false, true, false, false, true)
		}
		require.NoError(t, d.Put(ctx, active))
		requireIn(false, true, false, true, true, true, true)
		require.NoError(t, d.Put(ctx, finished))
		requireIn(false, false, true, true, false, false, true)

		// Another server wrote an older state late. A reader that meets the
		// game in a wrong place writes the current state again.
		require.NoError(t, d.Put(ctx, active))
		requireIn(false, true, true, true, true, true, true)
		updated := client.ZScore(ctx, "games:recent:*:*", game(1)).Val()
		assert.EqualValues(t, finished.Updated.UnixMilli(), updated, "its time does not go back")
		require.NoError(t, d.Put(ctx, finished))
		requireIn(false, false, true, true, false, false, true)
	})
}

func TestDirectory_Forget(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, client redis.UniversalClient) {
		d, ctx := open(client), t.Context()
		for n := range 3 {
			require.NoError(t, d.Put(ctx, listing(n)))
		}
		q := Query{Order: ByWatchers, Variant: "classic"}
		for range 2 {
			require.NoError(t, d.Forget(ctx, q, game(0), game(2)))
		}
		require.NoError(t, d.Forget(ctx, q))
		assert.Equal(t, games(1), list(t, d, q))
	})
}

// Ensure that what is older than games are kept drops out of all lists.
func TestDirectory_Trim(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, client redis.UniversalClient) {
		d, ctx := open(client), t.Context()
		old, young := listing(1), listing(2)
		old.Status, young.Status = Finished, Finished
		old.Updated = start.Add(-month - time.Hour)
		young.Updated = start.Add(-month + time.Hour)
		young.Players = append(young.Players, player(1))
		require.NoError(t, d.Put(ctx, old))
		assert.Equal(t, games(1), list(t, d, Query{}))

		require.NoError(t, d.Put(ctx, young))
		assert.Equal(t, games(2, 1), list(t, d, Query{PlayerID: player(1)}), "none older than a month before the other")
		require.NoError(t, d.Trim(ctx, []string{"classic"}))
		for _, q := range []Query{{}, {Variant: "classic"}, {Status: Finished}, {Status: Finished, Variant: "classic"}} {
			assert.Equal(t, games(2), list(t, d, q), q.String())
		}

		young.Updated = start
		require.NoError(t, d.Put(ctx, young))
		assert.Equal(t, games(2), list(t, d, Query{PlayerID: player(1)}))
		ttl := client.TTL(ctx, "player:{"+player(1)+"}:games").Val()
		assert.InDelta(t, month+month/100, ttl, float64(time.Minute))
	})
}

// Ensure that a player's list lives on while games move, told so once in a
// while, and again at their end at the latest where Redis forgot it.
func TestDirectory_PlayersListLasts(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, client redis.UniversalClient) {
		const keep = time.Minute
		d, ctx := New(client, client, keep, slog.New(slog.DiscardHandler)), t.Context()
		key := "player:{" + player(1) + "}:games"
		ttl := func(l Listing) time.Duration {
			require.NoError(t, d.Put(ctx, l))
			return client.TTL(ctx, key).Val()
		}
		active, finished := listing(1), listing(1)
		finished.Status = Finished
		assert.GreaterOrEqual(t, ttl(active), keep)
		require.NoError(t, client.Persist(ctx, key).Err())
		assert.EqualValues(t, -1, ttl(active), "it was just told")
		assert.GreaterOrEqual(t, ttl(finished), keep)

		require.NoError(t, client.Persist(ctx, key).Err())
		d.lasting.Add(player(1), time.Now().Add(-time.Second))
		assert.GreaterOrEqual(t, ttl(active), keep, "a hundredth of the time is over")
	})
}

// Ensure that nothing drops out where games are kept for ever.
func TestDirectory_Trim_Never(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, client redis.UniversalClient) {
		d, ctx := New(client, client, 0, slog.New(slog.DiscardHandler)), t.Context()
		old, young := listing(1), listing(2)
		old.Status, young.Status = Finished, Finished
		old.Updated, old.Players = start.AddDate(-10, 0, 0), young.Players
		require.NoError(t, d.Put(ctx, old))
		require.NoError(t, d.Put(ctx, young))
		require.NoError(t, d.Trim(ctx, []string{"classic"}))
		assert.Equal(t, games(2, 1), list(t, d, Query{}))
		assert.Equal(t, games(2, 1), list(t, d, Query{PlayerID: player(2)}))
		assert.EqualValues(t, -1, client.TTL(ctx, "player:{"+player(2)+"}:games").Val())
	})
}
