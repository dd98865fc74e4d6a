package account_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/internal/id"
	"github.com/gridstand/gridstand/server/internal/account"
	"github.com/gridstand/gridstand/server/internal/store"
	"github.com/gridstand/gridstand/server/internal/store/storetest"
)

func TestStore_Verify(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		accounts, ctx := account.New(s.Accounts, keep), t.Context()
		ann, token, err := accounts.Create(ctx, "Ann", secretA, false)
		require.NoError(t, err)
		bob, _, err := accounts.Create(ctx, "Bob", secretB, false)
		require.NoError(t, err)

		got, err := accounts.Verify(ctx, token)
		require.NoError(t, err)
		assert.Equal(t, ann, got)

		stored, err := s.Accounts.Get(ctx, []string{ann.ID})
		require.NoError(t, err)
		for name, wrong := range map[string]string{
			"another secret":   ann.ID + "." + secretB,
			"another player":   bob.ID + "." + secretA,
			"longer":           token + "a",
			"unknown player":   id.New() + "." + secretA,
			"the digest":       ann.ID + "." + stored[ann.ID].Secret,
			"upper case":       strings.ToUpper(token),
			"Bearer and token": "Bearer " + token,
		} {
			_, err = accounts.Verify(ctx, wrong)
			require.ErrorIs(t, err, account.ErrBadToken, name)
		}

		// Accepted from now on without a look-up, but only by this store.
		_, err = s.Accounts.SetSecret(ctx, ann.ID, "another")
		require.NoError(t, err)
		_, err = accounts.Verify(ctx, token)
		require.NoError(t, err)
		_, err = account.New(s.Accounts, keep).Verify(ctx, token)
		require.ErrorIs(t, err, account.ErrBadToken)
	})
}

// Ensure that a malformed token does not reach the store.
func TestStore_Verify_Malformed(t *testing.T) {
	t.Parallel()
	accounts := account.New(nil, keep) // would panic if it were asked
	for _, token := range []string{
		"", ".", id.New(), id.New() + ".", "." + secretA, secretA, "x." + secretA, id.New() + "." + secretA[1:],
		id.New() + "." + secretA + "." + secretA, id.New() + "." + strings.Repeat("a", 129),
		"}:{" + id.New()[3:] + "." + secretA, strings.Repeat("a", 1<<20),
	} {
		_, err := accounts.Verify(t.Context(), token)
		require.ErrorIs(t, err, account.ErrBadToken)
	}
}

func TestStore_Rotate(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		accounts, ctx := account.New(s.Accounts, keep), t.Context()
		ann, old, err := accounts.Create(ctx, "Ann", secretA, false)
		require.NoError(t, err)

		for range 2 { // The second is a repeat after a lost reply.
			token, err := accounts.Rotate(ctx, ann.ID, secretB)
			require.NoError(t, err)
			assert.Equal(t, ann.ID+"."+secretB, token)
			got, err := accounts.Verify(ctx, token)
			require.NoError(t, err)
			assert.Equal(t, ann, got)
		}
		_, err = account.New(s.Accounts, keep).Verify(ctx, old)
		require.ErrorIs(t, err, account.ErrBadToken)

		// The name goes with the current secret, and only with it.
		again, _, err := accounts.Create(ctx, "Ann", secretB, false)
		require.NoError(t, err)
		assert.Equal(t, ann, again)
		_, _, err = accounts.Create(ctx, "Ann", secretA, false)
		require.ErrorIs(t, err, account.ErrNameTaken)

		drawn, err := accounts.Rotate(ctx, ann.ID, "")
		require.NoError(t, err)
		_, err = accounts.Verify(ctx, drawn)
		require.NoError(t, err)

		unknown := id.New()
		_, err = accounts.Rotate(ctx, unknown, "")
		require.ErrorIs(t, err, account.ErrNotFound)
		_, err = accounts.Get(ctx, unknown)
		require.ErrorIs(t, err, account.ErrNotFound)
		_, err = accounts.Rotate(ctx, "me", "")
		require.ErrorIs(t, err, account.ErrNotFound)
	})
}

func TestStore_Reserve(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		accounts, ctx := account.New(s.Accounts, keep), t.Context()
		ann, bob := id.New(), id.New()
		games := []string{id.New(), id.New(), id.New()}

		for range 2 { // The second round repeats.
			require.NoError(t, accounts.Reserve(ctx, ann, games[0], 2))
			require.NoError(t, accounts.Reserve(ctx, ann, games[1], 2))
		}
		require.ErrorIs(t, accounts.Reserve(ctx, ann, games[2], 2), account.ErrTooManyGames)
		require.NoError(t, accounts.Reserve(ctx, bob, games[2], 2))
		require.NoError(t, accounts.Reserve(ctx, ann, games[2], 0), "0 is no limit")
		require.ErrorIs(t, accounts.Reserve(ctx, ann, id.New(), 2), account.ErrTooManyGames)

		open, err := accounts.OpenGames(ctx, ann)
		require.NoError(t, err)
		require.Len(t, open, 3)
		require.NoError(t, accounts.Release(ctx, ann, open[0].ID, open[1].ID))
		require.NoError(t, accounts.Release(ctx, ann))
		require.NoError(t, accounts.Reserve(ctx, ann, id.New(), 2))
		require.ErrorIs(t, accounts.Reserve(ctx, ann, id.New(), 2), account.ErrTooManyGames)
	})
}
