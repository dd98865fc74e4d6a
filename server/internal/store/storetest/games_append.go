package storetest

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/server/internal/store"
)

// gamesAppend tests Append.
func gamesAppend(t *testing.T, open Open) {
	t.Run("appends entries", func(t *testing.T) {
		g := newGames(t, open(t))
		ctx := t.Context()
		g.absent("a")
		began, err := g.s.Time(ctx)
		require.NoError(t, err)
		first := g.create("a", 1)
		g.holds("a", first, 0)
		records := g.create("b", 12)
		g.holds("b", records, 0)
		ended, err := g.s.Time(ctx)
		require.NoError(t, err)
		before := began.Truncate(time.Millisecond)
		for _, r := range records {
			assert.WithinRange(t, r.Time, before, ended)
			assert.Equal(t, r.Time.Truncate(time.Millisecond), r.Time)
			before = r.Time
		}
		g.holds("a", first, 0)
	})
	t.Run("refuses entries that do not follow the last one", func(t *testing.T) {
		g := newGames(t, open(t))
		refused := func(gameID string, e store.Entry, last store.ID) {
			t.Helper()
			_, err := g.Append(t.Context(), gameID, e)
			var conflict *store.ConflictError
			require.ErrorAs(t, err, &conflict)
			assert.Equal(t, last, conflict.Last)
		}
		records := g.create("a", 6)
		last, late := records[5].ID, entryAfter(records[2].ID, 1)
		refused("a", late, last)
		// An existing game is not created again.
		refused("a", entryAfter(begin("b"), 0), last)
		// This entry has the same version, but a different history.
		refused("a", entryAfter(store.ID{Version: last.Version, Digest: last.Digest + 1}, 0), last)
		// A missing game accepts only a first entry, and an existing game rejects an
		// entry far beyond its end.
		refused("b", late, store.ID{})
		refused("a", entryAfter(store.ID{Version: 9, Digest: 1}, 0), last)
		g.holds("a", records, 0)
		g.absent("b")
	})
	t.Run("appends an entry once", func(t *testing.T) {
		g := newGames(t, open(t))
		first := entryAfter(begin("a"), 0)
		second := entryAfter(first.Next, 0)
		created, moved := g.add("a", first), g.add("a", second)
		assert.Equal(t, 0, moved.Watchers)
		for range 2 {
			again := g.add("a", second)
			assert.Equal(t, moved.Time, again.Time)
			assert.Equal(t, -1, again.Watchers)
			// Repeating the append also succeeds after later entries, and after NotAfter.
			first.NotAfter = created.Time.Add(-time.Hour)
			assert.Equal(t, created.Time, g.add("a", first).Time)
		}
		g.holds("a", []store.Record{
			{ID: first.Next, Time: created.Time, Raw: first.Raw, Seed: first.Seed}, {ID: second.Next, Time: moved.Time, Raw: second.Raw},
		}, 0)
	})
	t.Run("respects the bounds of an entry's time", func(t *testing.T) {
		g := newGames(t, open(t))
		records := g.create("a", 2)
		last := records[1]
		for _, tt := range []struct {
			notBefore, notAfter time.Duration
			want                error
		}{
			{time.Hour, 0, store.ErrTooEarly},
			{0, -time.Millisecond, store.ErrTooLate},
			{-time.Hour, 0, nil},
			{0, time.Hour, nil},
		} {
			e := entryAfter(last.ID, 0)
			if tt.notBefore != 0 {
				e.NotBefore = last.Time.Add(tt.notBefore)
			}
			if tt.notAfter != 0 {
				e.NotAfter = last.Time.Add(tt.notAfter)
			}
			appended, err := g.Append(t.Context(), "a", e)
			if tt.want != nil {
				require.ErrorIs(t, err, tt.want, "%+v", tt)
				require.False(t, store.IsError(err), "%+v", tt)
				continue
			}
			require.NoError(t, err)
			last = store.Record{ID: e.Next, Time: appended.Time, Raw: e.Raw}
			records = append(records, last)
		}
		g.holds("a", records, 0)
		// NotBefore and NotAfter also apply to the first entry.
		first := entryAfter(begin("b"), 0)
		first.NotAfter = last.Time.Add(-time.Hour)
		_, err := g.Append(t.Context(), "b", first)
		require.ErrorIs(t, err, store.ErrTooLate)
		g.absent("b")
		first.NotAfter = last.Time.Add(time.Hour)
		appended := g.add("b", first)
		g.holds("b", []store.Record{{ID: first.Next, Time: appended.Time, Raw: first.Raw, Seed: first.Seed}}, 0)
	})
	t.Run("settles an append that its caller abandoned", func(t *testing.T) {
		g := newGames(t, open(t))
		records := g.create("a", 1)
		for i := range 20 {
			ctx, cancel := context.WithCancel(t.Context())
			e := entryAfter(records[len(records)-1].ID, 0)
			group := sync.WaitGroup{}
			if i%2 == 0 {
				cancel()
			} else {
				group.Go(cancel)
			}
			first, err := g.Append(ctx, "a", e)
			group.Wait()
			cancel()
			if err != nil {
				require.True(t, store.IsError(err), "%v", err)
			}
			again := g.add("a", e)
			if err == nil {
				require.Equal(t, first.Time, again.Time)
			}
			records = append(records, store.Record{ID: e.Next, Time: again.Time, Raw: e.Raw})
		}
		g.holds("a", records, 0)
	})
	t.Run("lets one of several concurrent appends win", func(t *testing.T) {
		g := newGames(t, open(t))
		records := g.create("a", 1)
		on := []store.Games{g.s.Games, g.s.Background.Games}
		for round := range 10 {
			last, same := records[len(records)-1].ID, round%2 == 0
			entries := make([]store.Entry, 8)
			for i := range entries {
				entries[i] = entryAfter(last, uint64(i*(round%2)))
			}
			results, errs := concurrently(len(entries), func(i int) (store.Appended, error) {
				return on[i%2].Append(t.Context(), "a", entries[i])
			})
			tail, err := g.Tail(t.Context(), "a")
			require.NoError(t, err)
			require.Equal(t, last.Version+1, tail.Last.Version)
			var won *store.Record
			for i, err := range errs {
				var conflict *store.ConflictError
				switch {
				case err == nil:
					require.Equal(t, tail.Last, entries[i].Next)
					if won != nil {
						require.Equal(t, won.Time, results[i].Time)
					}
					won = &store.Record{ID: entries[i].Next, Time: results[i].Time, Raw: entries[i].Raw}
				case same:
					require.NoError(t, err)
				default:
					require.ErrorAs(t, err, &conflict)
					require.Equal(t, tail.Last, conflict.Last)
				}
			}
			require.NotNil(t, won)
			records = append(records, *won)
		}
		g.holds("a", records, 0)
	})
}
