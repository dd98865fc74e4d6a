package storetest

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/internal/id"
	"github.com/gridstand/gridstand/server/internal/store"
)

// These are the fingerprints of the keys in the tests. Fingerprints may contain slashes.
const (
	keyOne = "SHA256:+one/e1Xl3Ck4p8v0q4vPzpZxZ3Z9oZ4Z5Z6Z7Z8Z9a"
	keyTwo = "SHA256:two"
)

// maxKeys is how many keys an account may have in these tests.
const maxKeys = 8

// mustLink links a key to an account.
func mustLink(t *testing.T, s *store.Store, playerID, fingerprint, comment string) store.Key {
	t.Helper()
	k, err := s.Keys.Link(t.Context(), store.Key{Fingerprint: fingerprint, PlayerID: playerID, Comment: comment}, maxKeys)
	require.NoError(t, err)
	return k
}

// requireOwner checks that a key is linked to an account, or to none if want is zero.
func requireOwner(t *testing.T, s *store.Store, fingerprint string, want store.Account) {
	t.Helper()
	owner, found, err := s.Keys.Owner(t.Context(), fingerprint)
	require.NoError(t, err)
	require.Equal(t, want.ID != "", found)
	require.Equal(t, want, owner)
}

// requireKeys checks that exactly the given keys are linked to an account.
func requireKeys(t *testing.T, s *store.Store, playerID string, want ...store.Key) {
	t.Helper()
	all, err := s.Keys.Keys(t.Context(), playerID)
	require.NoError(t, err)
	require.ElementsMatch(t, want, all)
}

// Keys tests the contract of store.Keys.
func Keys(t *testing.T, open Open) {
	t.Run("Link links a key to one account", func(t *testing.T) {
		s := open(t)
		ann, bob := mustCreate(t, s, newAccount("Ann"), keepAccounts), mustCreate(t, s, newAccount("Bob"), 0)
		requireOwner(t, s, keyOne, store.Account{})
		requireKeys(t, s, ann.ID)
		one := mustLink(t, s, ann.ID, keyOne, "ann at home, with blanks")
		assert.Equal(t, "ann at home, with blanks", one.Comment)
		requireRecent(t, s, one.Added)
		assert.Equal(t, one.Added.Truncate(time.Millisecond).UTC(), one.Added)
		two := mustLink(t, s, ann.ID, keyTwo, "")
		assert.Equal(t, one, mustLink(t, s, ann.ID, keyOne, "another comment"), "the key changed")
		requireOwner(t, s, keyOne, ann)
		requireKeys(t, s, ann.ID, one, two)

		_, err := s.Keys.Link(t.Context(), store.Key{Fingerprint: keyOne, PlayerID: bob.ID}, maxKeys)
		require.ErrorIs(t, err, store.ErrKeyHeld)
		requireOwner(t, s, keyOne, ann)
		requireKeys(t, s, bob.ID)

		_, err = s.Keys.Link(t.Context(), store.Key{Fingerprint: "SHA256:other", PlayerID: id.New()}, maxKeys)
		require.ErrorIs(t, err, store.ErrNoAccount)
		requireOwner(t, s, "SHA256:other", store.Account{})
	})
	t.Run("Unlink frees a key", func(t *testing.T) {
		s := open(t)
		ann, bob := mustCreate(t, s, newAccount("Ann"), keepAccounts), mustCreate(t, s, newAccount("Bob"), 0)
		mustLink(t, s, ann.ID, keyOne, "")
		two := mustLink(t, s, ann.ID, keyTwo, "")
		for fingerprint, playerID := range map[string]string{keyOne: bob.ID, "SHA256:unknown": ann.ID} {
			found, err := s.Keys.Unlink(t.Context(), playerID, fingerprint)
			require.NoError(t, err)
			assert.False(t, found)
		}
		requireOwner(t, s, keyOne, ann)
		for _, want := range []bool{true, false} {
			found, err := s.Keys.Unlink(t.Context(), ann.ID, keyOne)
			require.NoError(t, err)
			assert.Equal(t, want, found)
		}
		requireOwner(t, s, keyOne, store.Account{})
		requireKeys(t, s, ann.ID, two)
		one := mustLink(t, s, bob.ID, keyOne, "")
		requireOwner(t, s, keyOne, bob)
		requireKeys(t, s, bob.ID, one)
	})
	t.Run("concurrent calls of Link keep to the limit", func(t *testing.T) {
		s := open(t)
		ann := mustCreate(t, s, newAccount("Ann"), 0)
		keys, errs := concurrently(12, func(n int) (store.Key, error) {
			return s.Keys.Link(t.Context(), store.Key{Fingerprint: fmt.Sprint("SHA256:", n), PlayerID: ann.ID}, maxKeys)
		})
		linked := 0
		for n, err := range errs {
			if err != nil {
				require.ErrorIs(t, err, store.ErrTooManyKeys)
				requireOwner(t, s, fmt.Sprint("SHA256:", n), store.Account{})
				continue
			}
			requireOwner(t, s, fmt.Sprint("SHA256:", n), ann)
			assert.Equal(t, keys[n], mustLink(t, s, ann.ID, keys[n].Fingerprint, ""), "the key is already linked")
			linked++
		}
		assert.Equal(t, maxKeys, linked)
	})
	t.Run("Create links the key", func(t *testing.T) {
		s := open(t)
		ann := newAccount("Ann")
		stored, err := s.Keys.Create(t.Context(), ann, keepAccounts, keyOne)
		require.NoError(t, err)
		assert.Equal(t, ann.Secret, stored.Secret)
		again, err := s.Keys.Create(t.Context(), ann, keepAccounts, keyOne)
		require.NoError(t, err)
		assert.Equal(t, stored, again)
		requireAccounts(t, s, []string{ann.ID}, stored)
		requireOwner(t, s, keyOne, stored)
		all, err := s.Keys.Keys(t.Context(), ann.ID)
		require.NoError(t, err)
		require.Len(t, all, 1)
		assert.Equal(t, keyOne, all[0].Fingerprint)

		bob := newAccount("Bob")
		_, err = s.Keys.Create(t.Context(), bob, keepAccounts, keyOne)
		require.ErrorIs(t, err, store.ErrKeyHeld)
		requireHolder(t, s, bob.Name, "")
		holder, err := s.Keys.Create(t.Context(), newAccount("ANN"), keepAccounts, keyTwo)
		require.NoError(t, err)
		assert.Equal(t, stored, holder, "the name is taken")
		requireOwner(t, s, keyTwo, store.Account{})
		bob, err = s.Keys.Create(t.Context(), bob, keepAccounts, keyTwo)
		require.NoError(t, err)
		requireOwner(t, s, keyTwo, bob)
	})
	t.Run("Link and Create do not share a key", func(t *testing.T) {
		s := open(t)
		ann := mustCreate(t, s, newAccount("Ann"), keepAccounts)
		for n := range 10 {
			key, players := fmt.Sprint("SHA256:", n), []store.Account{ann, newAccount(fmt.Sprint("Bob ", n)), newAccount(fmt.Sprint("Eve ", n))}
			_, errs := concurrently(len(players), func(i int) (any, error) {
				if i == 0 {
					return s.Keys.Link(t.Context(), store.Key{Fingerprint: key, PlayerID: ann.ID}, 0)
				}
				return s.Keys.Create(t.Context(), players[i], keepAccounts, key)
			})
			owner, found, err := s.Keys.Owner(t.Context(), key)
			require.NoError(t, err)
			require.Equal(t, slices.Contains(errs, nil), found)
			for i, err := range errs {
				if err != nil {
					require.ErrorIs(t, err, store.ErrKeyHeld)
				}
				require.Equal(t, err == nil, owner.ID == players[i].ID)
			}
		}
	})
}

// KeysExpire tests that keys expire with their account.
func KeysExpire(t *testing.T, open OpenClock) {
	s, forward := open(t)
	ann := mustCreate(t, s, newAccount("Ann"), keepAccounts)
	one := mustLink(t, s, ann.ID, keyOne, "")
	forward(keepAccounts - time.Hour)
	two := mustLink(t, s, ann.ID, keyTwo, "")
	require.NoError(t, s.Accounts.Renew(t.Context(), keepAccounts, ann.ID))
	forward(keepAccounts - time.Hour)
	requireOwner(t, s, keyOne, ann)
	requireOwner(t, s, keyTwo, ann)
	requireKeys(t, s, ann.ID, one, two)
	forward(time.Hour)
	requireOwner(t, s, keyOne, store.Account{})
	requireKeys(t, s, ann.ID)
	_, err := s.Keys.Link(t.Context(), store.Key{Fingerprint: keyOne, PlayerID: ann.ID}, maxKeys)
	require.ErrorIs(t, err, store.ErrNoAccount)

	// Both keys can now be linked to other accounts.
	bob := mustCreate(t, s, newAccount("Bob"), 0)
	one = mustLink(t, s, bob.ID, keyOne, "")
	eve, err := s.Keys.Create(t.Context(), newAccount("Eve"), keepAccounts, keyTwo)
	require.NoError(t, err)
	requireOwner(t, s, keyTwo, eve)
	forward(keepAccounts)
	requireOwner(t, s, keyOne, bob)
	requireKeys(t, s, bob.ID, one)
	requireOwner(t, s, keyTwo, store.Account{})
	_, err = s.Keys.Create(t.Context(), eve, keepAccounts, keyTwo)
	require.ErrorIs(t, err, store.ErrNameHeld, "an expired account is not recreated")
}
