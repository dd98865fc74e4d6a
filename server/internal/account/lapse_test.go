package account_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/internal/id"
	"github.com/gridstand/gridstand/server/internal/account"
	"github.com/gridstand/gridstand/server/internal/store"
	"github.com/gridstand/gridstand/server/internal/store/storetest"
)

// Ensure that an account expires only after a period in which it made no calls and had no
// games, that its name stays taken, and that none of its secrets can restore it.
func TestLapse(t *testing.T) {
	t.Parallel()
	storetest.EachClock(t, func(t *testing.T, s *store.Store, forward func(time.Duration)) {
		ctx := t.Context()
		const most = keep - time.Hour
		_, first := create(t, account.New(s.Accounts, keep), "Ann", secretA)
		bob, _ := create(t, account.New(s.Accounts, keep), "Bob", secretA)
		for range 2 {
			forward(most)
			_, err := account.New(s.Accounts, keep).Verify(ctx, first)
			require.NoError(t, err, "a call renews the account")
			require.NoError(t, account.New(s.Accounts, keep).Renew(ctx, bob.ID, id.New(), "no id"), "a game renews the account")
		}
		forward(most)
		token, err := account.New(s.Accounts, keep).Rotate(ctx, first, secretB)
		require.NoError(t, err)
		again, err := account.New(s.Accounts, keep).Rotate(ctx, first, secretB)
		require.NoError(t, err)
		assert.Equal(t, token, again, "a retry after a lost reply")
		_, err = account.New(s.Accounts, keep).Rotate(ctx, first, "")
		require.ErrorIs(t, err, account.ErrBadToken, "only the latest token can be replaced")
		_, err = account.New(s.Accounts, keep).Verify(ctx, token)
		require.NoError(t, err)
		forward(most)
		_, _, err = account.New(s.Accounts, keep).Create(ctx, "Ann", secretB, false)
		require.NoError(t, err, "Create with the current secret renews the account")
		_, err = account.New(s.Accounts, keep).Get(ctx, bob.ID)
		require.ErrorIs(t, err, account.ErrNotFound)

		forward(keep)
		accounts := account.New(s.Accounts, keep)
		for _, token := range []string{first, token} {
			_, err = accounts.Verify(ctx, token)
			require.ErrorIs(t, err, account.ErrBadToken)
		}
		for _, secret := range []string{secretA, secretB, ""} {
			_, _, err = accounts.Create(ctx, "ann", secret, false)
			require.ErrorIs(t, err, account.ErrNameTaken)
		}
	})
}

// Ensure that an account is not renewed too often, and that a failed renewal is retried.
func TestRenew_Seldom(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		ctx, failed := t.Context(), errors.New("failed")
		renewing := &renewals{Accounts: s.Accounts, err: failed}
		a := account.New(renewing, keep)
		ann, token, err := a.Create(ctx, "Ann", secretA, false)
		require.NoError(t, err, "the account exists even though its renewal failed")
		_, err = a.Verify(ctx, token)
		require.NoError(t, err)
		require.ErrorIs(t, a.Renew(ctx, ann.ID), failed)
		assert.Equal(t, 3, renewing.calls)
		renewing.err = nil
		for range 2 {
			require.NoError(t, a.Renew(ctx, ann.ID, "no id"))
			assert.Equal(t, 4, renewing.calls)
		}
		require.NoError(t, account.New(renewing, 0).Renew(ctx, ann.ID))
		assert.Equal(t, 4, renewing.calls, "accounts that never expire are not renewed")
	})
}

// renewals is a store that counts renewals and makes them fail while err is set.
type renewals struct {
	store.Accounts
	calls int
	err   error
}

func (r *renewals) Renew(ctx context.Context, keep time.Duration, ids ...string) error {
	r.calls++
	if r.err != nil {
		return r.err
	}
	return r.Accounts.Renew(ctx, keep, ids...)
}
