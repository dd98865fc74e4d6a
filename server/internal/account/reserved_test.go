package account_test

import (
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/game/variants"
	"github.com/gridstand/gridstand/internal/id"
	redistest "github.com/gridstand/gridstand/internal/testkit/redis"
	"github.com/gridstand/gridstand/server/internal/account"
)

// Ensure that no new account gets a name that would pass for something else.
func TestStore_Create_Reserved(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, client redis.UniversalClient) {
		store, ctx := account.New(client, keep), t.Context()
		names := []string{
			"me", "admin", "ADMIN", "Ad-min", "a d m i n", "admin.", "server", "Gridstand", "open", "help", "bot", "3x3.", "T.W.O.S",
		}
		for _, v := range variants.All() {
			names = append(names, v.ID, strings.ToUpper(v.ID))
			names = append(names, v.Bots...)
		}
		for _, name := range names {
			_, _, err := store.Create(ctx, name, secretA, false)
			require.ErrorIs(t, err, account.ErrNameReserved, name)
		}
		for _, name := range []string{"..", "--help", "-", "_", ".ann", "-ann", "_ann", "an  n", "a   b"} {
			_, _, err := store.Create(ctx, name, secretA, false)
			requireField(t, err, "name")
		}
		assert.Empty(t, client.Keys(ctx, "*").Val(), "nothing is left behind")
		for _, name := range []string{"ann", "Ann-", "a. b", "admin2", "administrate", "3x33", "2", "meg", "greedy one"} {
			_, _, err := store.Create(ctx, name, secretA, false)
			require.NoError(t, err, name)
		}
	})
}

// Ensure that an account that already has such a name keeps it, and that no
// other account gets it.
func TestStore_Create_ReservedHolder(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, client redis.UniversalClient) {
		store, ctx := account.New(client, keep), t.Context()
		ann, _, err := store.Create(ctx, "Ann", secretA, false)
		require.NoError(t, err)
		for _, name := range []string{"Greedy", "--help", "a  b"} {
			// As an earlier server stored it.
			require.NoError(t, client.Set(ctx, "player-name:{"+strings.ToLower(name)+"}", ann.ID, 0).Err())
			again, _, err := store.Create(ctx, name, secretA, false)
			require.NoError(t, err)
			assert.Equal(t, ann.ID, again.ID)
			_, _, err = store.Create(ctx, name, secretB, false)
			require.ErrorIs(t, err, account.ErrNameTaken)
			found, err := store.Find(ctx, name)
			require.NoError(t, err)
			assert.Equal(t, ann.ID, found.ID)
		}
		assert.True(t, id.Valid(ann.ID))
	})
}
