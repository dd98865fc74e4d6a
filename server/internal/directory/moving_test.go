package directory

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/server/internal/store"
	"github.com/gridstand/gridstand/server/internal/store/storetest"
)

// counted is a store.Lists that counts how often Moving is called.
type counted struct {
	store.Lists
	asked atomic.Int32
	err   error
}

func (c *counted) Moving(ctx context.Context, within time.Duration) (int, error) {
	c.asked.Add(1)
	if c.err != nil {
		return 0, c.err
	}
	return c.Lists.Moving(ctx, within)
}

// Ensure that games with an event in the last 30 seconds are counted at most once per second.
func TestDirectory_Moving(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		lists := &counted{Lists: s.Lists}
		d := open(t, lists)
		at, err := s.Time(t.Context())
		require.NoError(t, err)
		moving, idle := listing(1), listing(2)
		moving.Updated, idle.Updated = at, at.Add(-31*time.Second)
		require.NoError(t, d.Put(t.Context(), moving))
		require.NoError(t, d.Put(t.Context(), idle))
		var group sync.WaitGroup
		for range 20 {
			group.Go(func() {
				n, err := d.Moving(t.Context())
				assert.NoError(t, err)
				assert.Equal(t, 1, n)
			})
		}
		group.Wait()
		// On a busy machine, this may take more than a second.
		asked := lists.asked.Load()
		assert.Less(t, asked, int32(20))

		d.moving.Store(&movingGames{games: 7, at: time.Now().Add(time.Hour)})
		n, err := d.Moving(t.Context())
		require.NoError(t, err)
		assert.Equal(t, 7, n, "the cached count")
		require.NoError(t, d.Put(t.Context(), func() store.Listing { l := listing(3); l.Updated = at; return l }()))
		d.moving.Store(&movingGames{games: 7, at: time.Now().Add(-recountAfter)})
		n, err = d.Moving(t.Context())
		require.NoError(t, err)
		assert.Equal(t, 2, n, "a new count")
		assert.Equal(t, asked+1, lists.asked.Load())

		// While one call counts, the others return the last count.
		d.moving.Store(&movingGames{games: 7})
		require.True(t, d.counting.TryAcquire(1))
		n, err = d.Moving(t.Context())
		require.NoError(t, err)
		assert.Equal(t, 7, n)
		d.counting.Release(1)

		lists.err = store.Failed(store.Connection, "no connection")
		_, err = d.Moving(t.Context())
		require.ErrorIs(t, err, lists.err)
		lists.err = nil
		n, err = d.Moving(t.Context())
		require.NoError(t, err)
		assert.Equal(t, 2, n, "a failed count is retried")
	})
}
