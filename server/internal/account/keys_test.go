package account_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/crypto/ssh"

	sshtest "github.com/gridstand/gridstand/internal/testkit/ssh"
	waittest "github.com/gridstand/gridstand/internal/testkit/wait"
	"github.com/gridstand/gridstand/server/internal/account"
	"github.com/gridstand/gridstand/server/internal/store"
	"github.com/gridstand/gridstand/server/internal/store/storetest"
)

// fingerprint is a well-formed fingerprint that does not belong to any key.
const fingerprint = "SHA256:n4bQgYhMfWWaL+qgxVrQFaO/TxsrC4Is0V1sFbDwCgg"

// proof returns a signature for a player, made with a new key, and the fingerprint of that
// key.
func proof(t *testing.T, playerID string) (signature, name string) {
	t.Helper()
	signer := sshtest.Key(t)
	return sshtest.Sign(t, signer, playerID), ssh.FingerprintSHA256(signer.PublicKey())
}

// Ensure that a key's player is cached for a while, but no longer once the same server has
// removed the key.
func TestKeys_Player(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		accounts, ctx := account.New(s.Accounts, keep), t.Context()
		keys, elsewhere := account.NewKeys(s.Keys, accounts), account.NewKeys(s.Keys, accounts)
		ann, _ := create(t, accounts, "Ann", secretA)
		signature, name := proof(t, ann.ID)
		_, err := keys.Player(ctx, name, false)
		require.ErrorIs(t, err, account.ErrKeyNotLinked)
		added, err := keys.Add(ctx, ann.ID, signature, "ünicode at home")
		require.NoError(t, err)
		assert.Equal(t, name, added.Fingerprint)
		for _, k := range []*account.Keys{keys, elsewhere} {
			player, err := k.Player(ctx, name, false)
			require.NoError(t, err)
			assert.Equal(t, ann, player)
		}
		require.NoError(t, elsewhere.Remove(ctx, ann.ID, name))
		_, err = elsewhere.Player(ctx, name, false)
		require.ErrorIs(t, err, account.ErrKeyNotLinked)
		_, err = keys.Player(ctx, name, false)
		require.NoError(t, err, "a removed key is accepted for up to half a minute")
		_, err = keys.Player(ctx, name, true)
		require.ErrorIs(t, err, account.ErrKeyNotLinked)
		_, err = account.NewKeys(s.Keys, accounts).Player(ctx, name, false)
		require.ErrorIs(t, err, account.ErrKeyNotLinked)
	})
}

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
	for _, name := range []string{"", " a", "ä", "--help"} {
		_, err := keys.Create(t.Context(), name, fingerprint, false)
		requireField(t, err, "name")
	}
	_, err := keys.Create(t.Context(), "admin", fingerprint, false)
	require.ErrorIs(t, err, account.ErrNameReserved)
	for _, name := range []string{"", "SHA256:", "sha256" + fingerprint[6:], fingerprint[:49], fingerprint + "=", fingerprint[:48] + "\n" + fingerprint[49:], fingerprint[:49] + "h"} {
		assert.False(t, account.ValidFingerprint(name), name)
		requireField(t, keys.Remove(t.Context(), "id", name), "fingerprint")
		_, err := keys.Player(t.Context(), name, false)
		require.ErrorIs(t, err, account.ErrKeyNotLinked)
	}
	assert.True(t, account.ValidFingerprint(fingerprint))
}

// Ensure that a credential is listed and accepted from its creation until its revocation, and that
// other servers notice the revocation when they read the credentials again.
func TestCredentials(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		ctx := t.Context()
		operator, server := account.NewCredentials(s.Credentials), account.NewCredentials(s.Credentials)
		began, err := s.Time(ctx)
		require.NoError(t, err)
		two, err := operator.Create(ctx, "host-2")
		require.NoError(t, err)
		one, err := operator.Create(ctx, "host-1")
		require.NoError(t, err)
		assert.NotEqual(t, one, two)
		listed, err := operator.List(ctx)
		require.NoError(t, err)
		require.Len(t, listed, 2)
		for i, c := range listed {
			assert.Equal(t, fmt.Sprint("host-", i+1), c.Name)
			assert.WithinRange(t, c.Created, began.Truncate(time.Millisecond), began.Add(time.Minute))
		}
		for credential, want := range map[string]string{one: "host-1", two: "host-2"} {
			name, err := server.Verify(ctx, credential)
			require.NoError(t, err)
			assert.Equal(t, want, name)
		}
		for _, wrong := range []string{"", "gridstand_ssh_", one[:len(one)-1], one + "a", "gridstand_ssh_" + secretA, one[len("gridstand_ssh_"):]} {
			_, err := server.Verify(ctx, wrong)
			require.ErrorIs(t, err, account.ErrBadCredential, wrong)
		}
		require.NoError(t, operator.Revoke(ctx, "host-1"))
		require.ErrorIs(t, operator.Revoke(ctx, "host-1"), account.ErrNoCredential)
		left, err := operator.List(ctx)
		require.NoError(t, err)
		assert.Equal(t, listed[1:], left)
		_, err = account.NewCredentials(s.Credentials).Verify(ctx, one)
		require.ErrorIs(t, err, account.ErrBadCredential)
		waittest.Until(t, "a server refuses a credential that was revoked", func() bool {
			_, err = server.Verify(ctx, one)
			return errors.Is(err, account.ErrBadCredential)
		})

		for _, name := range []string{"", "a b", "ä", "abcdefghijklmnopqrstuvwxyz"} {
			_, err := operator.Create(ctx, name)
			requireField(t, err, "name")
		}
		_, err = operator.Create(ctx, "host-2")
		require.ErrorIs(t, err, account.ErrCredentialExists)
		for i := range 15 {
			_, err := operator.Create(ctx, "more-"+string(rune('a'+i)))
			require.NoError(t, err)
		}
		_, err = operator.Create(ctx, "too-many")
		require.ErrorContains(t, err, "revoke one first")
	})
}
