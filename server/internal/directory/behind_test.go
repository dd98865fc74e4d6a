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

// touch queues a listing.
func (d *Directory) touch(listing store.Listing) {
	d.Touch(listing.GameID, func() store.Listing { return listing })
}

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
			touched.Score++
			d.touch(touched)
		}
		time.Sleep(writeEvery) //nolint:forbidigo // The bubble's clock is fake.
		synctest.Wait()
		assert.Equal(t, map[string]store.Listing{game(1): touched}, lists.games)

		touched.Score++
		d.touch(touched)
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
		current.Score++
		if !mend {
			d.touch(current)
			d.Mend(listing(2))
		} else {
			d.Mend(current)
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
	d.touch(listing(1))
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
	recent.Score = 7
	d.touch(listing(1))
	d.touch(listing(2))
	require.ErrorIs(t, d.flush(t.Context()), lists.err)
	require.ErrorIs(t, d.Put(t.Context(), listing(3)), lists.err)
	d.touch(recent)
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
		d.pending[strconv.Itoa(n)] = nil
	}
	d.touch(listing(0))
	d.Mend(listing(0))
	assert.Len(t, d.pending, maxPending)
}
