package account_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/internal/id"
	"github.com/gridstand/gridstand/server/internal/account"
	"github.com/gridstand/gridstand/server/internal/store"
	"github.com/gridstand/gridstand/server/internal/store/storetest"
)

// Ensure that a guest gets a name at once, keeps the account by every name and with the same token,
// and can change the name again only after 30 days.
func TestStore_Rename(t *testing.T) {
	t.Parallel()
	storetest.EachClock(t, func(t *testing.T, s *store.Store, forward func(time.Duration)) {
		accounts, ctx := account.New(s.Accounts, 0), t.Context()
		guest, token := create(t, accounts, "guest-k3xq7a", secretA)
		bob, _ := create(t, accounts, "Bob", secretB)
		verified, err := accounts.Verify(ctx, token)
		require.NoError(t, err)
		require.Equal(t, guest, verified)

		var zoe account.Player
		for range 2 { // The second iteration is a retry after a lost reply.
			zoe, err = accounts.Rename(ctx, guest.ID, "Zoe B.")
			require.NoError(t, err)
			assert.Equal(t, "Zoe B.", zoe.Name)
			assert.Equal(t, guest.Created, zoe.Created)
		}
		for _, on := range []*account.Store{accounts, account.New(s.Accounts, 0)} {
			verified, err := on.Verify(ctx, token)
			require.NoError(t, err)
			assert.Equal(t, zoe, verified, "the caller has the new name at once")
			for _, name := range []string{"GUEST-K3XQ7A", "zoe b.", "Zoe-B", guest.ID} {
				found, err := on.Find(ctx, name)
				require.NoError(t, err, name)
				assert.Equal(t, zoe, found)
			}
		}
		for _, name := range []string{"guest-k3xq7a", "Zoe B."} {
			again, same, err := accounts.Create(ctx, name, secretA, false)
			require.NoError(t, err)
			assert.Equal(t, zoe, again)
			assert.Equal(t, token, same)
			_, _, err = accounts.Create(ctx, name, secretB, false)
			require.ErrorIs(t, err, account.ErrNameTaken)
			_, err = accounts.Rename(ctx, bob.ID, name)
			require.Error(t, err)
		}

		_, err = accounts.Rename(ctx, guest.ID, "bob.")
		require.ErrorIs(t, err, account.ErrNameTaken)
		_, err = accounts.Rename(ctx, id.New(), "Eve")
		require.ErrorIs(t, err, account.ErrNotFound)
		var recent *account.RenamedRecentlyError
		for _, later := range []time.Duration{0, 30*24*time.Hour - time.Minute} {
			forward(later)
			_, err = accounts.Rename(ctx, guest.ID, "Zoe")
			require.ErrorAs(t, err, &recent)
			assert.Equal(t, zoe.Renamed.Add(30*24*time.Hour), recent.Until)
		}
		forward(time.Minute)
		again, err := accounts.Rename(ctx, guest.ID, "Zoe")
		require.NoError(t, err)
		assert.Equal(t, "Zoe", again.Name)
	})
}
