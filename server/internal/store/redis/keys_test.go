package redis_test

import (
	"testing"
	"time"

	goredis "github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/internal/id"
	redistest "github.com/gridstand/gridstand/internal/testkit/redis"
	"github.com/gridstand/gridstand/server/internal/store"
	"github.com/gridstand/gridstand/server/internal/store/storetest"
)

const (
	fingerprint = "SHA256:n4bQgYhMfWWaL+qgxVrQFaO/TxsrC4Is0V1sFbDwCgg"
	ownerKey    = "player:ssh-key:{" + fingerprint + "}"
)

// Ensure that repeating a Create that ended after any of its steps completes it, and that
// the key becomes free if Create is not repeated.
func TestKeys_Create_Interrupted(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, client goredis.UniversalClient) {
		s, ctx := on(t, client), t.Context()
		ann := store.Account{ID: id.New(), Name: "Ann", Secret: "none"}
		bob := store.Account{ID: id.New(), Name: "Bob", Secret: "none"}
		for _, halfway := range []func(){
			func() {},
			func() { _, _ = s.Accounts.Create(ctx, ann, keepAccounts) },
			func() {
				require.NoError(t, client.HSet(ctx, "player:{"+ann.ID+"}:keys", fingerprint, "1 ").Err())
			},
		} {
			require.NoError(t, client.FlushDB(ctx).Err())
			require.NoError(t, client.Set(ctx, ownerKey, "claimed for "+ann.ID, time.Minute).Err())
			halfway()
			_, linked, err := s.Keys.Owner(ctx, fingerprint)
			require.NoError(t, err)
			assert.False(t, linked)
			_, err = s.Keys.Create(ctx, bob, keepAccounts, fingerprint)
			require.ErrorIs(t, err, store.ErrKeyHeld)
			assert.Positive(t, client.TTL(ctx, ownerKey).Val(), "the claim expires")

			created, err := s.Keys.Create(ctx, ann, keepAccounts, fingerprint)
			require.NoError(t, err)
			owner, linked, err := s.Keys.Owner(ctx, fingerprint)
			require.NoError(t, err)
			assert.True(t, linked)
			assert.Equal(t, created, owner)
			assert.Greater(t, client.PTTL(ctx, ownerKey).Val(), keepAccounts-time.Hour)
			assert.Greater(t, client.PTTL(ctx, "player:{"+ann.ID+"}:keys").Val(), keepAccounts-time.Hour)
		}
	})
}

// Ensure that an interrupted Unlink has already removed the key from the account, so that
// another account can use it.
func TestKeys_Unlink_Interrupted(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, client goredis.UniversalClient) {
		s, ctx := on(t, client), t.Context()
		ann, err := s.Keys.Create(ctx, store.Account{ID: id.New(), Name: "Ann", Secret: "none"}, 0, fingerprint)
		require.NoError(t, err)
		assert.EqualValues(t, -1, client.PTTL(ctx, ownerKey).Val())
		require.NoError(t, client.HDel(ctx, "player:{"+ann.ID+"}:keys", fingerprint).Err())
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

// Ensure that all of a key's data expires with its account.
func TestKeys_Expire_Keys(t *testing.T) {
	t.Parallel()
	server := redistest.StartMiniredis(t)
	client, s := redistest.NewClient(t, server.Addr()), storetest.OnRedis(t, server.Addr())
	ctx := t.Context()
	ann, err := s.Keys.Create(ctx, store.Account{ID: id.New(), Name: "Ann", Secret: "none"}, keepAccounts, fingerprint)
	require.NoError(t, err)
	server.FastForward(keepAccounts / 2)
	require.NoError(t, s.Accounts.Renew(ctx, keepAccounts, ann.ID))
	server.FastForward(keepAccounts - time.Hour)
	_, linked, err := s.Keys.Owner(ctx, fingerprint)
	require.NoError(t, err)
	assert.True(t, linked)
	server.FastForward(time.Hour)
	assert.Equal(t, []string{"player-name:{ann}"}, client.Keys(ctx, "*").Val())
}

// Ensure that every error from Redis is returned as a *store.Error.
func TestKeys_Failed(t *testing.T) {
	t.Parallel()
	server := redistest.StartMiniredis(t)
	s := storetest.OnRedis(t, server.Addr())
	server.SetError("LOADING")
	for name, err := range storetest.CallKeys(t.Context(), s) {
		var failed *store.Error
		if assert.ErrorAs(t, err, &failed, name) {
			assert.Equal(t, store.Kind("loading"), failed.Kind, name)
		}
	}
}
