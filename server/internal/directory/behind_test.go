package directory

import (
	"context"
	"strconv"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	redistest "github.com/gridstand/gridstand/internal/testkit/redis"
)

// run starts Run and returns what stops it and waits.
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

// Ensure that what was touched is listed after a while, the last of it
// counting, and what is pending at the stop is not lost.
func TestDirectory_Touch(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, client redis.UniversalClient) {
		d := open(client)
		stop := run(t, d)
		q := Query{Order: ByScore, Status: Active}
		for score := range int32(100) {
			for n := range 2 {
				l := listing(n)
				l.Score = score + int32(n)
				d.Touch(l)
			}
		}
		require.Eventually(t, func() bool {
			z, err := client.ZRevRangeWithScores(t.Context(), q.key(), 0, -1).Result()
			return err == nil && len(z) == 2 && z[0] == redis.Z{Score: 100, Member: game(1)} && z[1] == redis.Z{Score: 99, Member: game(0)}
		}, 10*time.Second, 10*time.Millisecond)

		last := listing(1)
		last.Score = 1000
		d.Touch(last)
		stop()
		assert.EqualValues(t, 1000, client.ZScore(t.Context(), q.key(), game(1)).Val())
	})
}

// Ensure that a game that a late server listed at an earlier place is noticed
// and corrected, but not with anything older than what waits to be written.
func TestDirectory_Mend(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, client redis.UniversalClient) {
		here, there, ctx := open(client), open(client), t.Context()
		for _, q := range []Query{
			{Order: ByScore, Status: Active}, {Order: ByWatchers, Status: Active}, {Status: Active}, {PlayerID: player(2)},
		} {
			before, now := listing(2), listing(2)
			now.Score, now.Watchers, now.Updated = 56, 1, now.Updated.Add(time.Second)
			require.NoError(t, client.Del(ctx, q.key()).Err())
			require.NoError(t, there.Put(ctx, before))
			misplaced := func() bool {
				p, err := here.Page(ctx, q, Place{}, 1)
				require.NoError(t, err)
				require.Equal(t, games(2), p.GameIDs)
				return p.Misplaced(0, now)
			}
			require.True(t, misplaced(), "%v", q)
			here.Touch(now)
			here.Mend(before)
			require.NoError(t, here.flush(ctx))
			require.False(t, misplaced(), "%v: what waited was dropped", q)

			require.NoError(t, client.ZAdd(ctx, q.key(), redis.Z{Score: 1, Member: game(2)}).Err())
			require.True(t, misplaced(), "%v", q)
			here.Mend(now)
			require.NoError(t, here.flush(ctx))
			require.False(t, misplaced(), "%v: not mended", q)
		}
	})
}

// Ensure that more games than one batch holds are all written.
func TestDirectory_Touch_Many(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, client redis.UniversalClient) {
		d := open(client)
		for n := range 2*batchSize + 1 {
			d.Touch(listing(n))
		}
		require.NoError(t, d.flush(t.Context()))
		assert.EqualValues(t, 2*batchSize+1, client.ZCard(t.Context(), Query{}.key()).Val())
		assert.Empty(t, d.pending)
	})
}

// Ensure that a Put is not undone by what was touched before it.
func TestDirectory_Touch_ThenPut(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, client redis.UniversalClient) {
		d := open(client)
		d.Touch(listing(1))
		finished := listing(1)
		finished.Status = Finished
		require.NoError(t, d.Put(t.Context(), finished))
		require.NoError(t, d.flush(t.Context()))
		assert.Empty(t, list(t, d, Query{Status: Active}))
		assert.Equal(t, games(1), list(t, d, Query{Status: Finished}))
	})
}

// Ensure that what Redis did not take is written once it is back, unless there
// is newer.
func TestDirectory_Touch_RedisAway(t *testing.T) {
	t.Parallel()
	embedded := redistest.StartMiniredis(t)
	d, ctx := open(redistest.NewClient(t, embedded.Addr())), t.Context()
	old, recent := listing(1), listing(1)
	recent.Score = 7
	d.Touch(old)
	d.Touch(listing(2))
	embedded.SetError("LOADING")
	require.ErrorContains(t, d.flush(ctx), "LOADING")
	require.ErrorContains(t, d.Put(ctx, listing(3)), "LOADING")
	_, err := d.Page(ctx, Query{}, Place{}, 1)
	require.ErrorContains(t, err, "LOADING")
	d.Touch(recent)
	require.ErrorContains(t, d.flush(ctx), "LOADING")

	embedded.SetError("")
	require.NoError(t, d.flush(ctx))
	assert.Equal(t, games(1, 2), list(t, d, Query{Order: ByScore}))
}

// Ensure that no crowd of games grows the memory without end.
func TestDirectory_Touch_Bound(t *testing.T) {
	t.Parallel()
	d := open(nil)
	for n := range maxPending {
		d.pending[strconv.Itoa(n)] = Listing{}
	}
	d.Touch(listing(-1))
	assert.NotContains(t, d.pending, game(-1))
	assert.Len(t, d.pending, maxPending)
}
