package page

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	redistest "github.com/gridstand/gridstand/internal/testkit/redis"
)

// Ensure servers agree on a secret again after Redis lost it: on the known one,
// unless a server that did not know it drew another.
func TestTokens_SecretLost(t *testing.T) {
	t.Parallel()
	embedded := redistest.StartMiniredis(t)
	client, ctx := redistest.NewClient(t, embedded.Addr()), t.Context()
	old := NewTokens(client)
	token, err := old.Seal(ctx, "query", []byte("cursor"))
	require.NoError(t, err)
	aged := func() {
		s := *old.sealer.Load()
		s.readAt = s.readAt.Add(-2 * rereadAfter)
		old.sealer.Store(&s)
	}

	embedded.FlushAll()
	aged()
	_, err = old.Open(ctx, "query", token)
	require.NoError(t, err)
	_, err = NewTokens(client).Open(ctx, "query", token)
	require.NoError(t, err, "the known secret was written again")
	assert.Zero(t, embedded.TTL(secretKey))

	embedded.FlushAll()
	fresh := NewTokens(client)
	token, err = fresh.Seal(ctx, "query", []byte("cursor"))
	require.NoError(t, err)
	_, err = old.Open(ctx, "query", token)
	require.Error(t, err)
	aged()
	_, err = old.Open(ctx, "query", token)
	require.NoError(t, err, "the new secret was read")
	assert.WithinDuration(t, time.Now(), old.sealer.Load().readAt, rereadAfter)
}
