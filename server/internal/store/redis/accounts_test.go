package redis

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/internal/id"
	"github.com/gridstand/gridstand/server/internal/store"
)

const keepAccounts = 90 * 24 * time.Hour

// Ensure that no account can take a name that looks like one from before names were folded, and that
// the account whose name is in folded form has those that look like it.
func TestAccounts_FoldNames(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, r *rig) {
		ctx := t.Context()
		for name, holder := range map[string]string{"b.0-i": "a", "zed.": "b", "zed": "c"} {
			require.NoError(t, r.client.Set(ctx, "player-name:{"+name+"}", holder, 0).Err())
		}
		for range 2 {
			require.NoError(t, accounts{r.client}.foldNames(ctx))
		}
		for name, want := range map[string]string{"B.0-i": "a", "Bol": "a", "Zed.": "c", "Zed": "c", "Z-ed": "c"} {
			holder, err := r.store.Accounts.Holder(ctx, name)
			require.NoError(t, err)
			assert.Equal(t, want, holder, name)
			_, err = r.store.Accounts.Create(ctx, store.Account{ID: "new", Name: name}, 0)
			require.ErrorIs(t, err, store.ErrNameHeld)
		}
	})
}

// Ensure that repeating a call that ended after it claimed the name, or after it wrote the account,
// completes it, even if the secret has been replaced since, and that the claim keeps other accounts
// from taking the name for at most a minute.
func TestAccounts_Create_Interrupted(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, r *rig) {
		ctx, accounts, ann := t.Context(), r.store.Accounts, store.Account{ID: id.New(), Name: "Ann", Secret: "digest"}
		ttl := func() time.Duration { return r.client.TTL(ctx, "player-name:{ann}").Val() }
		require.NoError(t, r.client.Set(ctx, "player-name:{ann}", ann.ID, time.Minute).Err())
		_, err := accounts.Create(ctx, store.Account{ID: id.New(), Name: "ann"}, keepAccounts)
		require.ErrorIs(t, err, store.ErrNameHeld)
		assert.Positive(t, ttl())
		created, err := accounts.Create(ctx, ann, keepAccounts)
		require.NoError(t, err)
		assert.Equal(t, ann.ID, created.ID)
		assert.EqualValues(t, -1, ttl())

		require.NoError(t, r.client.Expire(ctx, "player-name:{ann}", time.Minute).Err())
		require.NoError(t, accounts.SetSecret(ctx, ann.ID, ann.Secret, "another"))
		created, err = accounts.Create(ctx, ann, keepAccounts)
		require.NoError(t, err)
		assert.Equal(t, "another", created.Secret)
		assert.EqualValues(t, -1, ttl())
	})
}

// Ensure that a call that ended after it claimed the name neither renamed the account nor gave the
// name to another one, and that repeating it completes it.
func TestAccounts_Rename_Interrupted(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, r *rig) {
		ctx, accounts := t.Context(), r.store.Accounts
		ann, err := accounts.Create(ctx, store.Account{ID: id.New(), Name: "Ann", Secret: "none"}, keepAccounts)
		require.NoError(t, err)
		bob, err := accounts.Create(ctx, store.Account{ID: id.New(), Name: "Bob", Secret: "none"}, keepAccounts)
		require.NoError(t, err)
		require.NoError(t, r.client.Set(ctx, "player-name:{zoe}", ann.ID, 0).Err())
		_, err = accounts.Rename(ctx, bob.ID, "Bob", "Zoe", time.Hour)
		require.ErrorIs(t, err, store.ErrNameHeld)
		for range 2 {
			renamed, err := accounts.Rename(ctx, ann.ID, "Ann", "Zoe", time.Hour)
			require.NoError(t, err)
			assert.Equal(t, "Zoe", renamed.Name)
		}
		assert.Equal(t, bob.ID, r.client.Get(ctx, "player-name:{bob}").Val())
	})
}

// Ensure that a call that comes too early writes nothing: each write waits for the disk, and other players for it.
func TestAccounts_Rename_Early(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, r *rig) {
		ctx, accounts := t.Context(), r.store.Accounts
		ann, err := accounts.Create(ctx, store.Account{ID: id.New(), Name: "Ann", Secret: "none"}, keepAccounts)
		require.NoError(t, err)
		zoe, err := accounts.Rename(ctx, ann.ID, "Ann", "Zoe", time.Hour)
		require.NoError(t, err)
		// To claim this name would make it permanent.
		require.NoError(t, r.client.Set(ctx, "player-name:{eve}", ann.ID, time.Minute).Err())
		early, err := accounts.Rename(ctx, ann.ID, "Zoe", "Eve", time.Hour)
		require.NoError(t, err)
		assert.Equal(t, zoe, early)
		assert.Positive(t, r.client.TTL(ctx, "player-name:{eve}").Val())
	})
}
