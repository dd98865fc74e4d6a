package redis

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Ensure that the key of a secret remains compatible with other releases.
func TestShared_Keys(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, r *rig) {
		_, err := r.store.Secrets.Secret(t.Context(), "page", []byte("secret"))
		require.NoError(t, err)
		assert.Equal(t, "secret", r.client.Get(t.Context(), "games:page-secret").Val())
		assert.EqualValues(t, -1, r.client.TTL(t.Context(), "games:page-secret").Val())
	})
}
