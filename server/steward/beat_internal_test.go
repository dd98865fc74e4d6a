package steward

import (
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/gridstand/gridstand/server/redistest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// silence makes it so long ago that a server beat.
func silence(t *testing.T, client redis.UniversalClient, d time.Duration) {
	t.Helper()
	now, err := client.Time(t.Context()).Result()
	require.NoError(t, err)
	require.NoError(t, client.Set(t.Context(), beatKey, strconv.FormatInt(now.Add(-d).UnixMilli(), 10), 0).Err())
}

// Ensure a silence of all servers is noted once, by one of those who are back,
// and a short one not at all.
func TestBeat(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, client redis.UniversalClient) {
		ctx, a := t.Context(), agenda{client, client}
		began, err := client.Time(ctx).Result()
		require.NoError(t, err)
		outage := func(since time.Duration) time.Duration {
			from := time.Now().Add(-since)
			noted, err := a.outages(ctx, from)
			require.NoError(t, err)
			return noted.since(from).Round(time.Minute)
		}
		for _, quiet := range []time.Duration{0, time.Millisecond, outageAfter - 2*time.Second} {
			silence(t, client, quiet)
			p, err := a.beat(ctx, 0)
			require.NoError(t, err)
			assert.Zero(t, p.gap)
			assert.WithinRange(t, p.now, began.Truncate(time.Millisecond), time.Now().Add(time.Second))
		}
		assert.Zero(t, outage(time.Hour))

		silence(t, client, 10*time.Minute)
		var group sync.WaitGroup
		var mu sync.Mutex
		var gaps []time.Duration
		for range 8 {
			group.Go(func() {
				p, err := a.beat(ctx, 0)
				assert.NoError(t, err)
				mu.Lock()
				defer mu.Unlock()
				if p.gap > 0 {
					gaps = append(gaps, p.gap.Round(time.Minute))
				}
			})
		}
		group.Wait()
		assert.Equal(t, []time.Duration{10 * time.Minute}, gaps)
		assert.Equal(t, 10*time.Minute, outage(time.Hour))
		assert.Equal(t, 4*time.Minute, outage(4*time.Minute), "what came before a clock began is nothing to it")
		assert.Zero(t, outage(-time.Minute))

		// They add up, and are forgotten when no clock can have seen them.
		silence(t, client, 3*time.Minute)
		p, err := a.beat(ctx, 0)
		require.NoError(t, err)
		assert.Equal(t, 3*time.Minute, p.gap.Round(time.Minute))
		assert.Equal(t, 13*time.Minute, outage(time.Hour))
		old := began.Add(-outagesKept - time.Hour).UnixMilli()
		require.NoError(t, client.ZAdd(ctx, outagesKey, redis.Z{Score: float64(old), Member: "1 " + strconv.FormatInt(old, 10)}).Err())
		silence(t, client, time.Minute)
		_, err = a.beat(ctx, 0)
		require.NoError(t, err)
		assert.EqualValues(t, 3, client.ZCard(ctx, outagesKey).Val())
	})
}

// Ensure the beat never goes back, whatever a store does that was restored.
func TestBeat_NeverBack(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, client redis.UniversalClient) {
		silence(t, client, -time.Hour)
		before := client.Get(t.Context(), beatKey).Val()
		p, err := agenda{client, client}.beat(t.Context(), 0)
		require.NoError(t, err)
		assert.Zero(t, p.gap)
		assert.Equal(t, before, strconv.FormatInt(p.beat, 10))
		assert.Equal(t, before, client.Get(t.Context(), beatKey).Val())
	})
}
