package directory

import (
	"context"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/server/internal/store"
)

// Ensure that the last listing passed to Touch is written within a second, and that listings
// that are queued when Run stops are not lost.
func TestDirectory_Touch(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d, lists := open(0)
		ctx, cancel := context.WithCancel(t.Context())
		go d.Run(ctx)
		synctest.Wait()
		touched := listing(1)
		for range 3 {
			touched.Watchers++
			d.Touch(state(t, 1), touched.Watchers)
		}
		time.Sleep(writeEvery) //nolint:forbidigo // The bubble's clock is fake.
		synctest.Wait()
		assert.Equal(t, map[string]store.Listing{game(1): touched}, lists.games)

		touched.Watchers++
		d.Touch(state(t, 1), touched.Watchers)
		cancel()
		synctest.Wait()
		assert.Equal(t, map[string]store.Listing{game(1): touched}, lists.games)
	})
}

// Ensure that Mend rewrites a listing, but does not replace a newer one that is queued.
func TestDirectory_Mend(t *testing.T) {
	t.Parallel()
	d, lists := open(3)
	current := listing(2)
	for _, mend := range []bool{false, true} {
		current.Watchers++
		if !mend {
			d.Touch(state(t, 2), current.Watchers)
			d.Mend(state(t, 2), 0)
		} else {
			d.Mend(state(t, 2), current.Watchers)
		}
		require.NoError(t, d.flush(t.Context()))
		assert.Equal(t, current, lists.games[game(2)])
		assert.Empty(t, d.pending)
	}
}

// Ensure that a listing that was queued before a Put does not overwrite it.
func TestDirectory_Touch_ThenPut(t *testing.T) {
	t.Parallel()
	d, lists := open(0)
	d.Touch(state(t, 1), 0)
	finished := listing(1)
	finished.Status = store.Finished
	require.NoError(t, d.Put(t.Context(), finished))
	require.NoError(t, d.flush(t.Context()))
	assert.Equal(t, map[string]store.Listing{game(1): finished}, lists.games)
}

// Ensure that listings that could not be written are written when the store is available
// again, unless newer ones have replaced them.
func TestDirectory_Touch_StoreFails(t *testing.T) {
	t.Parallel()
	d, lists := open(0)
	lists.err = store.Failed(store.Connection, "no connection")
	recent := listing(1)
	recent.Watchers = 7
	d.Touch(state(t, 1), 0)
	d.Touch(state(t, 2), 0)
	require.ErrorIs(t, d.flush(t.Context()), lists.err)
	require.ErrorIs(t, d.Put(t.Context(), listing(3)), lists.err)
	d.Touch(state(t, 1), recent.Watchers)
	require.ErrorIs(t, d.flush(t.Context()), lists.err)

	lists.err = nil
	require.NoError(t, d.flush(t.Context()))
	assert.Equal(t, map[string]store.Listing{game(1): recent, game(2): listing(2)}, lists.games)
}

// Ensure that the number of queued games is limited.
func TestDirectory_Touch_Bound(t *testing.T) {
	t.Parallel()
	d, _ := open(0)
	for n := range maxPending {
		d.pending[strconv.Itoa(n)] = change{}
	}
	d.Touch(state(t, 0), 0)
	d.Mend(state(t, 0), 0)
	assert.Len(t, d.pending, maxPending)
}
