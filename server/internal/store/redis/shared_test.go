package redis

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	goredis "github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Ensure that a quota's key is gone once the quota is full again, and that the key of a secret remains
// compatible with other releases.
func TestShared_Keys(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, r *rig) {
		_, err := r.store.Quotas.Take(t.Context(), "games", "ann", 3)
		require.NoError(t, err)
		ttl := r.client.TTL(t.Context(), "rate:games:ann").Val()
		assert.True(t, ttl > 0 && ttl <= 61*time.Second, "%v", ttl)
		_, err = r.store.Secrets.Secret(t.Context(), "page", []byte("secret"))
		require.NoError(t, err)
		assert.Equal(t, "secret", r.client.Get(t.Context(), "games:page-secret").Val())
		assert.EqualValues(t, -1, r.client.TTL(t.Context(), "games:page-secret").Val())
	})
}

// Ensure that the scan finds exactly the keys that match the pattern.
func TestScanKeys(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, r *rig) {
		ctx, client := t.Context(), r.client
		var want []string
		_, err := client.Pipelined(ctx, func(p goredis.Pipeliner) error {
			for i := range 1200 {
				key := fmt.Sprintf("a:{%d}", i)
				want = append(want, key)
				p.Set(ctx, key, "", 0)
				p.Set(ctx, fmt.Sprintf("b:{%d}", i), "", 0)
			}
			return nil
		})
		require.NoError(t, err)
		slices.Sort(want)

		var found []string
		require.NoError(t, scanKeys(ctx, client, "a:{*}", func(keys []string) error {
			found = append(found, keys...)
			return nil
		}))
		slices.Sort(found)
		assert.Equal(t, want, slices.Compact(found))

		enough := errors.New("enough")
		assert.ErrorIs(t, scanKeys(ctx, client, "a:{*}", func([]string) error { return enough }), enough)
	})
}
