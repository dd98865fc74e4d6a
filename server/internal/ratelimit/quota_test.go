package ratelimit_test

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	redistest "github.com/gridstand/gridstand/internal/testkit/redis"
	"github.com/gridstand/gridstand/server/internal/ratelimit"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// Ensure that all who share a quota get no more than it, and others theirs.
func TestQuotas_Take(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, client redis.UniversalClient) {
		ctx := t.Context()
		const perMinute = 3
		var group sync.WaitGroup
		var got atomic.Int32
		for range 20 {
			group.Go(func() {
				wait, err := ratelimit.NewQuotas(client).Take(ctx, "games", "ann", perMinute)
				if assert.NoError(t, err) && wait == 0 {
					got.Add(1)
				}
				assert.LessOrEqual(t, wait, time.Minute/perMinute)
			})
		}
		group.Wait()
		// On a machine that is very slow a new one may have come meanwhile.
		assert.GreaterOrEqual(t, got.Load(), int32(perMinute))
		assert.Less(t, got.Load(), int32(20))
		for what, who := range map[string]string{"games": "bob", "players": "ann"} {
			wait, err := ratelimit.NewQuotas(client).Take(ctx, what, who, perMinute)
			require.NoError(t, err)
			assert.Zero(t, wait)
		}
		wait, err := ratelimit.NewQuotas(client).Take(ctx, "games", "ann", 0)
		require.NoError(t, err)
		assert.Zero(t, wait, "no limit")
		ttl := client.TTL(ctx, "rate:games:ann").Val()
		assert.Positive(t, ttl)
		assert.LessOrEqual(t, ttl, 61*time.Second)
	})
}

func TestQuotas_RedisAway(t *testing.T) {
	t.Parallel()
	server := redistest.StartMiniredis(t)
	client := redistest.NewClient(t, server.Addr())
	server.SetError("LOADING")
	_, err := ratelimit.NewQuotas(client).Take(t.Context(), "games", "ann", 1)
	assert.ErrorContains(t, err, "LOADING")
}
