package redis

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/internal/id"
	"github.com/gridstand/gridstand/server/internal/store"
)

const (
	fingerprint = "SHA256:n4bQgYhMfWWaL+qgxVrQFaO/TxsrC4Is0V1sFbDwCgg"
	ownerKey    = "player:ssh-key:{" + fingerprint + "}"
)

// Ensure that repeating a Create that ended after any of its steps completes it, and that
// the key becomes free if Create is not repeated.
func TestKeys_Create_Interrupted(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, r *rig) {
		s, ctx := r.store, t.Context()
		ann := store.Account{ID: id.New(), Name: "Ann", Secret: "none"}
		bob := store.Account{ID: id.New(), Name: "Bob", Secret: "none"}
		for _, halfway := range []func(){
			func() {},
			func() { _, _ = s.Accounts.Create(ctx, ann, keepAccounts) },
			func() {
				require.NoError(t, r.client.HSet(ctx, "player:{"+ann.ID+"}:keys", fingerprint, "1 ").Err())
			},
		} {
			require.NoError(t, r.client.FlushDB(ctx).Err())
			require.NoError(t, r.client.Set(ctx, ownerKey, "claimed for "+ann.ID, time.Minute).Err())
			halfway()
			_, linked, err := s.Keys.Owner(ctx, fingerprint)
			require.NoError(t, err)
			assert.False(t, linked)
			_, err = s.Keys.Create(ctx, bob, keepAccounts, fingerprint)
			require.ErrorIs(t, err, store.ErrKeyHeld)
			assert.Positive(t, r.client.TTL(ctx, ownerKey).Val(), "the claim expires")

			created, err := s.Keys.Create(ctx, ann, keepAccounts, fingerprint)
			require.NoError(t, err)
			owner, linked, err := s.Keys.Owner(ctx, fingerprint)
			require.NoError(t, err)
			assert.True(t, linked)
			assert.Equal(t, created, owner)
			assert.Greater(t, r.client.PTTL(ctx, ownerKey).Val(), keepAccounts-time.Hour)
			assert.Greater(t, r.client.PTTL(ctx, "player:{"+ann.ID+"}:keys").Val(), keepAccounts-time.Hour)
		}
	})
}

// Ensure that a key is not listed if Link ended before it wrote the owner, and that a repeated Link
// completes it.
func TestKeys_Link_Interrupted(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, r *rig) {
		s, ctx := r.store, t.Context()
		ann, err := s.Accounts.Create(ctx, store.Account{ID: id.New(), Name: "Ann", Secret: "none"}, 0)
		require.NoError(t, err)
		require.NoError(t, r.client.HSet(ctx, "player:{"+ann.ID+"}:keys", fingerprint, "1 ").Err())
		for _, linked := range []bool{false, true} {
			all, err := s.Keys.Keys(ctx, ann.ID)
			require.NoError(t, err)
			assert.Equal(t, linked, len(all) == 1)
			_, err = s.Keys.Link(ctx, store.Key{Fingerprint: fingerprint, PlayerID: ann.ID}, 1)
			require.NoError(t, err)
		}
	})
}

// Ensure that an interrupted Unlink has already removed the key from the account, so that
// another account can use it.
func TestKeys_Unlink_Interrupted(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, r *rig) {
		s, ctx := r.store, t.Context()
		ann, err := s.Keys.Create(ctx, store.Account{ID: id.New(), Name: "Ann", Secret: "none"}, 0, fingerprint)
		require.NoError(t, err)
		assert.EqualValues(t, -1, r.client.PTTL(ctx, ownerKey).Val())
		require.NoError(t, r.client.HDel(ctx, "player:{"+ann.ID+"}:keys", fingerprint).Err())
		_, linked, err := s.Keys.Owner(ctx, fingerprint)
		require.NoError(t, err)
		assert.False(t, linked)
		bob, err := s.Keys.Create(ctx, store.Account{ID: id.New(), Name: "Bob", Secret: "none"}, 0, fingerprint)
		require.NoError(t, err)
		_, err = s.Keys.Unlink(ctx, ann.ID, fingerprint)
		require.NoError(t, err)
		owner, linked, err := s.Keys.Owner(ctx, fingerprint)
		require.NoError(t, err)
		assert.True(t, linked)
		assert.Equal(t, bob, owner)
	})
}
