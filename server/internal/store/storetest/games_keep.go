package storetest

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/server/internal/store"
)

// gamesKeep tests the methods that affect a game as a whole, and Audience.
func gamesKeep(t *testing.T, open Open) {
	t.Run("does not mend a correct head", func(t *testing.T) {
		g := newGames(t, open(t))
		ctx := t.Context()
		records := g.create("a", 3)
		behind, last := records[1], records[2]
		mended := store.Head{Last: last.ID, Time: last.Time, Encoded: fmt.Appendf(nil, "head\xff %s", last.ID)}
		fallen := store.Head{Last: behind.ID, Time: behind.Time, Encoded: []byte("old")}
		for _, from := range []store.ID{{}, records[0].ID, behind.ID} {
			require.NoError(t, g.Mend(ctx, "a", from, fallen))
			g.holds("a", records, 0)
		}
		require.NoError(t, g.Mend(ctx, "a", last.ID, fallen))
		tail, err := g.Tail(ctx, "a")
		require.NoError(t, err)
		assert.Equal(t, store.Tail{Length: 3, Last: last.ID, Head: behind.ID}, tail)
		require.NoError(t, g.Mend(ctx, "a", behind.ID, mended))
		g.holds("a", records, 0)
		require.NoError(t, g.Mend(ctx, "b", behind.ID, mended))
		g.absent("b")
	})
	t.Run("expires games", func(t *testing.T) {
		g := newGames(t, open(t))
		ctx := t.Context()
		now, err := g.s.Time(ctx)
		require.NoError(t, err)
		require.NoError(t, g.Expire(ctx, now))
		a := g.create("a", 3)
		g.create("b", 3)
		g.create("c", 3)
		require.NoError(t, g.Expire(ctx, now.Add(time.Hour), "a", "b", "nothing"))
		g.holds("a", a, 0)
		require.NoError(t, g.Expire(ctx, now.Add(-time.Second), "c", "b"))
		g.holds("a", a, 0)
		g.absent("b")
		g.absent("c")
		g.absent("nothing")
		assert.Equal(t, []string{"a"}, g.visited())
		// The ID can be reused, and none of the old game's data is left.
		g.holds("b", g.create("b", 1), 0)
	})
	t.Run("quarantines games", func(t *testing.T) {
		g := newGames(t, open(t))
		ctx := t.Context()
		records := g.create("a", 3)
		last := records[2].ID
		require.ErrorIs(t, g.Quarantine(ctx, "a", records[1].ID, time.Hour), store.ErrMoved)
		require.ErrorIs(t, g.Quarantine(ctx, "a", store.ID{}, time.Hour), store.ErrMoved)
		require.ErrorIs(t, g.Quarantine(ctx, "b", last, time.Hour), store.ErrMoved)
		g.holds("a", records, 0)
		g.absent("b")
		refused := func(gameID string, e store.Entry) {
			t.Helper()
			_, err := g.Append(ctx, gameID, e)
			require.ErrorIs(t, err, store.ErrBroken)
		}
		for range 2 {
			require.NoError(t, g.Quarantine(ctx, "a", last, time.Hour))
			require.NoError(t, g.Quarantine(ctx, "b", store.ID{}, time.Hour))
			refused("a", entryAfter(last, 0))
			refused("b", entryAfter(begin("b"), 0))
			require.NoError(t, g.Mend(ctx, "a", last, store.Head{Last: last, Time: records[2].Time, Encoded: []byte("head")}))
		}
		tail, err := g.Tail(ctx, "a")
		require.NoError(t, err)
		assert.Equal(t, store.Tail{Length: 3, Last: last, Head: store.Quarantined}, tail)
		tail, err = g.Tail(ctx, "b")
		require.NoError(t, err)
		assert.Equal(t, store.Tail{Head: store.Quarantined}, tail)
		assert.Equal(t, store.Quarantined, g.head("a").Last)
		assert.True(t, g.head("b").Exists)
		got, err := g.Entries(ctx, "a", 1, 10)
		require.NoError(t, err)
		g.same(records, got)
		// The entries in the log are still there.
		assert.Equal(t, records[2].Time, g.add("a", entryAfter(records[1].ID, 0)).Time)
	})
	t.Run("visits all games", func(t *testing.T) {
		g := newGames(t, open(t))
		assert.Empty(t, g.visited())
		var want []string
		for i := range 60 {
			want = append(want, fmt.Sprintf("game%02d", i))
			g.create(want[i], 1)
		}
		assert.Equal(t, want, g.visited())
		enough := errors.New("enough")
		assert.ErrorIs(t, g.IDs(t.Context(), func([]string) error { return enough }), enough)
	})
	t.Run("counts the audience", func(t *testing.T) {
		g := newGames(t, open(t))
		g.report("one", 3, 3)
		g.absent("a")
		records := g.create("a", 1)
		g.report("one", 3, 3)
		g.holds("a", records, 3)
		others := 0
		if g.s.Shared() {
			others = 4
			g.report("two", others, 7)
		}
		g.report("one", 5, 5+others)
		g.holds("a", records, 5+others)
		e := entryAfter(records[0].ID, 0)
		appended := g.add("a", e)
		assert.Equal(t, 5+others, appended.Watchers)
		assert.Equal(t, -1, g.add("a", e).Watchers)
		records = append(records, store.Record{ID: e.Next, Time: appended.Time, Raw: e.Raw})
		g.holds("a", records, 5+others)
		g.report("one", 0, others)
		g.report("one", 0, others)
		if g.s.Shared() {
			g.report("two", 0, 0)
		}
		g.holds("a", records, 0)
	})
}

// GamesExpire tests the clock-dependent part of the contract of store.Games.
func GamesExpire(t *testing.T, open OpenClock) {
	t.Run("games expire at the given time", func(t *testing.T) {
		s, forward := open(t)
		g := newGames(t, s)
		ctx := t.Context()
		now, err := g.s.Time(ctx)
		require.NoError(t, err)
		g.create("a", 2)
		kept := g.create("b", 2)
		quarantined := g.create("c", 2)
		require.NoError(t, g.Expire(ctx, now.Add(time.Hour), "a"))
		require.NoError(t, g.Quarantine(ctx, "c", quarantined[1].ID, time.Hour))
		require.NoError(t, g.Quarantine(ctx, "d", store.ID{}, time.Hour))
		forward(30 * time.Minute)
		assert.True(t, g.head("a").Exists)
		assert.True(t, g.head("c").Exists)
		forward(31 * time.Minute)
		g.absent("a")
		g.absent("c")
		g.absent("d")
		g.holds("b", kept, 0)
		assert.Equal(t, []string{"b"}, g.visited())
	})
	t.Run("counts of spectators expire", func(t *testing.T) {
		s, forward := open(t)
		g := newGames(t, s)
		if !g.s.Shared() {
			t.Skip("the only server retracts its counts")
		}
		records := g.create("a", 1)
		g.report("one", 3, 3)
		forward(store.AudienceTTL - 5*time.Second)
		g.report("two", 4, 7)
		g.holds("a", records, 7)
		forward(10 * time.Second)
		g.report("two", 4, 4)
		forward(store.AudienceTTL + 5*time.Second)
		g.holds("a", records, 0)
	})
}
