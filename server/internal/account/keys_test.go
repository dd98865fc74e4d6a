package account_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/server/internal/account"
	"github.com/gridstand/gridstand/server/internal/store"
	"github.com/gridstand/gridstand/server/internal/store/storetest"
)

// fingerprint is a well-formed fingerprint that does not belong to any key.
const fingerprint = "SHA256:n4bQgYhMfWWaL+qgxVrQFaO/TxsrC4Is0V1sFbDwCgg"

// Ensure that an account that was created with a key has no valid token, and that the key cannot create
// the account again after it was removed.
func TestKeys_Create(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		accounts, ctx := account.New(s.Accounts, keep), t.Context()
		keys := account.NewKeys(s.Keys, accounts)
		ann, err := keys.Create(ctx, "Ann", fingerprint, false)
		require.NoError(t, err)
		again, err := keys.Create(ctx, "ANN", fingerprint, true)
		require.NoError(t, err)
		assert.Equal(t, ann, again)
		_, _, err = accounts.Create(ctx, "Ann", secretA, false)
		require.ErrorIs(t, err, account.ErrNameTaken)
		stored, err := s.Accounts.Get(ctx, []string{ann.ID})
		require.NoError(t, err)
		for _, secret := range []string{"", stored[ann.ID].Secret, fingerprint, secretA} {
			_, err = accounts.Verify(ctx, ann.ID+"."+secret)
			require.ErrorIs(t, err, account.ErrBadToken)
		}

		require.NoError(t, keys.Remove(ctx, ann.ID, fingerprint))
		_, err = keys.Create(ctx, "Ann", fingerprint, false)
		require.ErrorIs(t, err, account.ErrNameTaken)
		_, err = keys.Player(ctx, fingerprint, false)
		require.ErrorIs(t, err, account.ErrKeyNotLinked)
	})
}

// Ensure that malformed input is refused without accessing the store.
func TestKeys_Invalid(t *testing.T) {
	t.Parallel()
	keys := account.NewKeys(nil, account.New(nil, keep)) // panics on any access to the store
	_, err := keys.Create(t.Context(), "--help", fingerprint, false)
	requireField(t, err, "name")
	_, err = keys.Create(t.Context(), "admin", fingerprint, false)
	require.ErrorIs(t, err, account.ErrNameReserved)
	for _, name := range []string{"", "SHA256:", "sha256" + fingerprint[6:], fingerprint[:49], fingerprint + "=", fingerprint + "\n", fingerprint[:49] + "h"} {
		assert.False(t, account.ValidFingerprint(name), name)
		requireField(t, keys.Remove(t.Context(), "id", name), "fingerprint")
		_, err := keys.Player(t.Context(), name, false)
		require.ErrorIs(t, err, account.ErrKeyNotLinked)
	}
	assert.True(t, account.ValidFingerprint(fingerprint))
}
