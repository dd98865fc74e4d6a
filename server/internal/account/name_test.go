package account_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/game/variants"
	"github.com/gridstand/gridstand/internal/id"
	"github.com/gridstand/gridstand/server/internal/account"
	"github.com/gridstand/gridstand/server/internal/store"
	"github.com/gridstand/gridstand/server/internal/store/storetest"
)

// Ensure that new accounts cannot take a name that could be mistaken for something else.
func TestStore_Create_Reserved(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		accounts, ctx := account.New(s.Accounts, keep), t.Context()
		names := []string{
			"me", "admin", "ADMIN", "Ad-min", "adm1n", "player", "r00t", "a d m i n", "admin.", "server", "Gridstand", "open", "help", "bot", "3x3.", "T.W.O.S",
		}
		for _, v := range variants.All() {
			names = append(names, v.ID, strings.ToUpper(v.ID))
			names = append(names, v.Bots...)
		}
		for _, name := range names {
			_, _, err := accounts.Create(ctx, name, secretA, false)
			require.ErrorIs(t, err, account.ErrNameReserved, name)
		}
		for _, name := range names {
			holder, err := s.Accounts.Holder(ctx, name)
			require.NoError(t, err)
			assert.Empty(t, holder)
		}
		for _, name := range []string{"ann", "a. b", "admin2", "administrate", "3x33", "2", "meg", "greedy one"} {
			_, _, err := accounts.Create(ctx, name, secretA, false)
			require.NoError(t, err, name)
		}
	})
}

// Ensure that an account that already has a reserved name keeps it, and that no other account
// can take it.
func TestStore_Create_ReservedHolder(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		accounts, ctx := account.New(s.Accounts, keep), t.Context()
		for _, name := range []string{"Greedy", "--help", "a  b"} {
			// Store the account as an earlier server would have.
			holder, err := s.Accounts.Create(ctx, store.Account{ID: id.New(), Name: name}, keep)
			require.NoError(t, err)
			_, _, err = accounts.Create(ctx, name, secretB, false)
			require.Error(t, err)
			found, err := accounts.Find(ctx, name)
			require.NoError(t, err)
			assert.Equal(t, holder.ID, found.ID)
			_, err = accounts.Find(ctx, name+".")
			require.ErrorIs(t, err, account.ErrNotFound, "a name that looks like it is another name")
		}
	})
}
