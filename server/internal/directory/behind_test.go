package directory

import (
	"context"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/server/internal/store"
	"github.com/gridstand/gridstand/server/internal/store/storetest"
)

// run starts Run. The returned function stops it and waits until it has returned.
func run(t *testing.T, d *Directory) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		d.Run(ctx)
	}()
	stop = func() { cancel(); <-done }
	t.Cleanup(stop)
	return stop
}

// Ensure that the last listing passed to Touch is eventually written, and that listings that
// are queued when Run stops are not lost.
func TestDirectory_Touch(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		d := open(t, s.Lists)
		stop := run(t, d)
		l := store.List{Order: store.ByScore, Status: store.Active}
		for score := range int32(100) {
			for n := range 2 {
				touched := listing(n)
				touched.Score = score + int32(n)
				d.Touch(touched)
			}
		}
		require.Eventually(t, func() bool {
			places, err := d.page(t.Context(), l, store.Place{}, 3)
			return err == nil && slices.Equal(places, []store.Place{{Rank: 100, GameID: game(1)}, {Rank: 99, GameID: game(0)}})
		}, 5*time.Minute, 10*time.Millisecond)

		last := listing(1)
		last.Score = 1000
		d.Touch(last)
		stop()
		places, err := d.page(t.Context(), l, store.Place{}, 1)
		require.NoError(t, err)
		assert.Equal(t, []store.Place{{Rank: 1000, GameID: game(1)}}, places)
	})
}

// Ensure that Mend rewrites a listing, but does not replace a newer one that is queued.
func TestDirectory_Mend(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		d, ctx := open(t, s.Lists), t.Context()
		l := store.List{Order: store.ByScore, Status: store.Active}
		old, current := listing(2), listing(2)
		current.Score, current.Updated = 56, current.Updated.Add(time.Second)
		require.NoError(t, d.Put(ctx, old))
		d.Touch(current)
		d.Mend(old)
		require.NoError(t, d.flush(ctx))
		requireRank := func(want int64) {
			t.Helper()
			places, err := d.page(ctx, l, store.Place{}, 2)
			require.NoError(t, err)
			require.Equal(t, []store.Place{{Rank: want, GameID: game(2)}}, places)
		}
		requireRank(56)
		current.Score = 57
		d.Mend(current)
		require.NoError(t, d.flush(ctx))
		requireRank(57)
		assert.Empty(t, d.pending)
	})
}

// Ensure that a listing that was queued before a Put does not overwrite it.
func TestDirectory_Touch_ThenPut(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		d := open(t, s.Lists)
		d.Touch(listing(1))
		finished := listing(1)
		finished.Status = store.Finished
		require.NoError(t, d.Put(t.Context(), finished))
		require.NoError(t, d.flush(t.Context()))
		assert.Empty(t, list(t, d, store.List{Status: store.Active}))
		assert.Equal(t, games(1), list(t, d, store.List{Status: store.Finished}))
	})
}

// failing is a store.Lists whose writes fail while err is set.
type failing struct {
	store.Lists
	err error
}

func (f *failing) Write(ctx context.Context, listings []store.Listing, keep time.Duration) error {
	if f.err != nil {
		return f.err
	}
	return f.Lists.Write(ctx, listings, keep)
}

// Ensure that listings that could not be written are written when the store is available
// again, unless newer ones have replaced them.
func TestDirectory_Touch_StoreFails(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		lists := &failing{s.Lists, store.Failed(store.Connection, "no connection")}
		d, ctx := open(t, lists), t.Context()
		old, recent := listing(1), listing(1)
		recent.Score = 7
		d.Touch(old)
		d.Touch(listing(2))
		require.ErrorIs(t, d.flush(ctx), lists.err)
		require.ErrorIs(t, d.Put(ctx, listing(3)), lists.err)
		d.Touch(recent)
		require.ErrorIs(t, d.flush(ctx), lists.err)

		lists.err = nil
		require.NoError(t, d.flush(ctx))
		assert.Equal(t, games(1, 2), list(t, d, store.List{Order: store.ByScore, Status: store.Active}))
	})
}

// Ensure that the number of queued games is limited.
func TestDirectory_Touch_Bound(t *testing.T) {
	t.Parallel()
	d := open(t, nil)
	for n := range maxPending {
		d.pending[strconv.Itoa(n)] = store.Listing{}
	}
	d.Touch(listing(-1))
	assert.NotContains(t, d.pending, game(-1))
	assert.Len(t, d.pending, maxPending)
}
