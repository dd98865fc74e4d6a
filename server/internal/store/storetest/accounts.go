package storetest

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/internal/id"
	"github.com/gridstand/gridstand/server/internal/store"
)

// keepAccounts is how long these tests keep accounts.
const keepAccounts = 90 * 24 * time.Hour

// newAccount returns an account that can be passed to Create or Keys.Create.
func newAccount(name string) store.Account {
	return store.Account{ID: id.New(), Name: name, Secret: "digest of " + name}
}

// mustCreate creates an account and returns it as stored.
func mustCreate(t *testing.T, s *store.Store, a store.Account, keep time.Duration) store.Account {
	t.Helper()
	holder, err := s.Accounts.Create(t.Context(), a, keep)
	require.NoError(t, err)
	require.Equal(t, a.ID, holder.ID)
	return holder
}

// requireRecent checks that a time is in this run of the tests, however long that takes, and not in the
// store's future.
func requireRecent(t *testing.T, s *store.Store, at time.Time) {
	t.Helper()
	now, err := s.Time(t.Context())
	require.NoError(t, err)
	require.WithinRange(t, at, testsBegan, now)
}

// testsBegan is when this program began, to the millisecond, which is the precision of stored times.
var testsBegan = now()

// requireAccounts checks that exactly the accounts in want exist among those with the
// given IDs.
func requireAccounts(t *testing.T, s *store.Store, ids []string, want ...store.Account) {
	t.Helper()
	expected := map[string]store.Account{}
	for _, a := range want {
		expected[a.ID] = a
	}
	found, err := s.Accounts.Get(t.Context(), ids)
	require.NoError(t, err)
	require.Equal(t, expected, found)
}

// requireHolder checks which account holds a name.
func requireHolder(t *testing.T, s *store.Store, name, want string) {
	t.Helper()
	holder, err := s.Accounts.Holder(t.Context(), name)
	require.NoError(t, err)
	require.Equal(t, want, holder, name)
}

// Accounts tests the contract of store.Accounts.
func Accounts(t *testing.T, open Open) {
	t.Run("Create stores an account", func(t *testing.T) {
		s := open(t)
		ann, bob := newAccount("Ann-1_. x"), newAccount("bob")
		bob.Bot = true
		stored := mustCreate(t, s, ann, keepAccounts)
		requireRecent(t, s, stored.Created)
		assert.Equal(t, stored.Created.Truncate(time.Millisecond), stored.Created)
		assert.Equal(t, time.UTC, stored.Created.Location())
		ann.Created = stored.Created
		assert.Equal(t, ann, stored)
		other := mustCreate(t, s, bob, 0)
		assert.True(t, other.Bot)
		requireAccounts(t, s, []string{ann.ID, id.New(), bob.ID, ann.ID}, stored, other)
		requireAccounts(t, s, nil)
		for _, name := range []string{ann.Name, "aNN-1_. X"} {
			requireHolder(t, s, name, ann.ID)
		}
		requireHolder(t, s, "Ann", "")
	})
	t.Run("one of several calls of Create and Rename gets a name", func(t *testing.T) {
		s := open(t)
		var ids []string
		for n := range 16 {
			a := newAccount(fmt.Sprint("Ann ", n))
			if ids = append(ids, a.ID); n%2 == 0 {
				mustCreate(t, s, a, keepAccounts)
			}
		}
		told, errs := concurrently(len(ids), func(n int) (store.Account, error) {
			if n%2 == 0 {
				return s.Accounts.Rename(t.Context(), ids[n], fmt.Sprint("Ann ", n), "Zoe", time.Hour)
			}
			return s.Accounts.Create(t.Context(), store.Account{ID: ids[n], Name: "Zoe", Secret: "digest"}, keepAccounts)
		})
		holder, err := s.Accounts.Holder(t.Context(), "zoe")
		require.NoError(t, err)
		found, err := s.Accounts.Get(t.Context(), ids)
		require.NoError(t, err)
		for n, err := range errs {
			if err != nil { // The name is held by another account, which may not be stored yet.
				require.ErrorIs(t, err, store.ErrNameHeld)
			} else {
				assert.Equal(t, holder, told[n].ID)
			}
			stored, there := found[ids[n]]
			assert.Equal(t, n%2 == 0 || ids[n] == holder, there)
			assert.Equal(t, ids[n] == holder, stored.Name == "Zoe")
		}
		assert.Contains(t, errs, nil)
	})
	t.Run("one of several calls of SetSecret replaces a secret", func(t *testing.T) {
		s := open(t)
		ann := mustCreate(t, s, newAccount("Ann"), 0)
		results, errs := concurrently(8, func(n int) (set bool, err error) {
			for range 2 { // The second iteration is a retry after a lost reply.
				if err := s.Accounts.SetSecret(t.Context(), ann.ID, ann.Secret, fmt.Sprint(n)); err != nil {
					return false, err
				}
			}
			found, err := s.Accounts.Get(t.Context(), []string{ann.ID})
			return found[ann.ID].Secret == fmt.Sprint(n), err
		})
		require.NoError(t, errors.Join(errs...))
		winner := slices.Index(results, true)
		ann.Secret = fmt.Sprint(winner)
		requireAccounts(t, s, []string{ann.ID}, ann)
		assert.NotContains(t, results[winner+1:], true)
	})
}

// AccountsExpire tests that an account expires unless it is renewed.
func AccountsExpire(t *testing.T, open OpenClock) {
	s, forward := open(t)
	ann, err := s.Accounts.Rename(t.Context(), mustCreate(t, s, newAccount("Ann"), keepAccounts).ID, "Ann", "Zoe", 0)
	require.NoError(t, err)
	bob := mustCreate(t, s, newAccount("Bob"), keepAccounts)
	eve := mustCreate(t, s, newAccount("Eve"), 0)
	all := []string{ann.ID, bob.ID, eve.ID}
	forward(keepAccounts - time.Hour)
	requireAccounts(t, s, all, ann, bob, eve)
	require.NoError(t, s.Accounts.Renew(t.Context(), keepAccounts, bob.ID))
	_, err = s.Accounts.Create(t.Context(), ann, keepAccounts) // this call does not renew the account
	require.NoError(t, err)
	forward(time.Hour)
	requireAccounts(t, s, all, bob, eve)
	forward(keepAccounts)
	requireAccounts(t, s, all, eve)

	// An expired account is neither recreated nor renamed, and its names stay taken.
	require.NoError(t, s.Accounts.Renew(t.Context(), keepAccounts, ann.ID))
	require.NoError(t, s.Accounts.SetSecret(t.Context(), ann.ID, ann.Secret, "digest"))
	_, err = s.Accounts.Rename(t.Context(), ann.ID, "Zoe", "Kim", 0)
	require.ErrorIs(t, err, store.ErrNoAccount)
	for _, a := range []store.Account{ann, newAccount("ANN")} {
		_, err = s.Accounts.Create(t.Context(), a, keepAccounts)
		require.ErrorIs(t, err, store.ErrNameHeld)
	}
	for name, holder := range map[string]string{"ann": ann.ID, "Zoe": ann.ID, "Kim": ""} {
		requireHolder(t, s, name, holder)
	}
	requireAccounts(t, s, all, eve)
}
