package redis

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/internal/id"
	"github.com/gridstand/gridstand/server/internal/store"
)

const (
	fingerprint = "SHA256:n4bQgYhMfWWaL+qgxVrQFaO/TxsrC4Is0V1sFbDwCgg"
	ownerKey    = "player:ssh-key:{" + fingerprint + "}"
)

// Ensure that an interrupted Unlink has already removed the key from the account, so that
// another account can use it.
func TestKeys_Unlink_Interrupted(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, r *rig) {
		s, ctx := r.store, t.Context()
		create := func(name string) store.Account {
			a, err := s.Accounts.Create(ctx, store.Account{ID: id.New(), Name: name, Secret: "none"}, 0)
			require.NoError(t, err)
			return a
		}
		ann, bob := create("Ann"), create("Bob")
		_, err := s.Keys.Link(ctx, store.Key{Fingerprint: fingerprint, PlayerID: ann.ID}, 8)
		require.NoError(t, err)
		assert.EqualValues(t, -1, r.client.PTTL(ctx, ownerKey).Val())
		require.NoError(t, r.client.HDel(ctx, "player:{"+ann.ID+"}:keys", fingerprint).Err())
		_, linked, err := s.Keys.Owner(ctx, fingerprint)
		require.NoError(t, err)
		assert.False(t, linked)
		_, err = s.Keys.Link(ctx, store.Key{Fingerprint: fingerprint, PlayerID: bob.ID}, 8)
		require.NoError(t, err)
		_, err = s.Keys.Unlink(ctx, ann.ID, fingerprint)
		require.NoError(t, err)
		owner, linked, err := s.Keys.Owner(ctx, fingerprint)
		require.NoError(t, err)
		assert.True(t, linked)
		assert.Equal(t, bob, owner)
	})
}
