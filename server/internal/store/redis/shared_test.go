package redis

import (
	"testing"
	"time"

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
