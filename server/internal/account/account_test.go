package account_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/internal/id"
	redistest "github.com/gridstand/gridstand/internal/testkit/redis"
	"github.com/gridstand/gridstand/internal/testkit/testmain"
	"github.com/gridstand/gridstand/server/internal/account"
	"github.com/gridstand/gridstand/server/internal/invalid"
	"github.com/gridstand/gridstand/server/internal/store"
	"github.com/gridstand/gridstand/server/internal/store/storetest"
)

func TestMain(m *testing.M) { testmain.Run(m, redistest.StillDialing) }

// keep is how long accounts are kept after their last use.
const keep = 90 * 24 * time.Hour

const (
	secretA = "aaaaaaaaaaaaaaaaaaaaaaaaaa"
	secretB = "bbbbbbbbbbbbbbbbbbbbbbbbbb"
)

// create creates an account, and returns its player and token.
func create(t *testing.T, accounts *account.Store, name, secret string) (account.Player, string) {
	t.Helper()
	p, token, err := accounts.Create(t.Context(), name, secret, false)
	require.NoError(t, err)
	return p, token
}

func TestStore_Create(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		accounts, ctx := account.New(s.Accounts, keep), t.Context()

		begin := time.Now().Truncate(time.Millisecond)
		ann, token, err := accounts.Create(ctx, "Ann-1_. x of 24 letters.", secretA, false)
		require.NoError(t, err)
		assert.True(t, id.Valid(ann.ID))
		assert.Equal(t, "Ann-1_. x of 24 letters.", ann.Name)
		assert.False(t, ann.Bot)
		assert.WithinRange(t, ann.Created, begin, time.Now())
		assert.Equal(t, ann.ID+"."+secretA, token)

		// A repeated call returns the same player, even on another server.
		again, token2, err := account.New(s.Accounts, keep).Create(ctx, "ANN-1_. X OF 24 LETTERS.", secretA, true)
		require.NoError(t, err)
		assert.Equal(t, ann, again)
		assert.Equal(t, token, token2)

		// With another secret, the call fails because the name is taken, ignoring case, and so it does
		// with another name that looks like it.
		for name, secret := range map[string]string{ann.Name: secretB, "ann-1_. X of 24 letters.": "", "ann 1 x of 24 letters": secretA} {
			_, _, err = accounts.Create(ctx, name, secret, false)
			require.ErrorIs(t, err, account.ErrNameTaken)
		}

		bot, token, err := accounts.Create(ctx, "Robot", "", true)
		require.NoError(t, err)
		assert.True(t, bot.Bot)
		verified, err := accounts.Verify(ctx, token)
		require.NoError(t, err)
		assert.Equal(t, bot, verified)
		assert.Len(t, token, 26+1+26)
	})
}

// Ensure that an invalid name or secret is refused without accessing the store.
func TestStore_Create_Invalid(t *testing.T) {
	t.Parallel()
	accounts := account.New(nil, keep) // panics on any access to the store
	for _, name := range []string{
		"", " ", " a", "a ", "a\n", "a\tb", "\x1b[31m", "ä", "a/b", "a{b}", "a:b", "a\u00a0b",
		strings.Repeat("a", 25), strings.Repeat("a", 1<<20),
	} {
		_, _, err := accounts.Create(t.Context(), name, secretA, false)
		requireField(t, err, "name")
	}
	for _, secret := range []string{
		"a", secretA[1:], strings.ToUpper(secretA), secretA + "1", secretA + ".", strings.Repeat("a", 129),
	} {
		_, _, err := accounts.Create(t.Context(), "name", secret, false)
		requireField(t, err, "secret")
		_, err = accounts.Rotate(t.Context(), id.New()+"."+secretA, secret)
		requireField(t, err, "secret")
		assert.NotContains(t, err.Error(), secretA)
	}
}

func TestStore_Get(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		accounts, ctx := account.New(s.Accounts, keep), t.Context()
		ann, _ := create(t, accounts, "Ann", secretA)

		for range 2 { // The first iteration reads from the store, the second from the cache.
			got, err := accounts.Get(ctx, ann.ID)
			require.NoError(t, err)
			assert.Equal(t, ann, got)
		}
		for _, unknown := range []string{"", "me", id.New(), ann.ID + "}", strings.Repeat("x", 1<<20)} {
			_, err := accounts.Get(ctx, unknown)
			require.ErrorIs(t, err, account.ErrNotFound)
		}

		bob, _, err := accounts.Create(ctx, "Bob", secretB, true)
		require.NoError(t, err)
		players, err := account.New(s.Accounts, keep).Players(ctx, []string{bob.ID, id.New(), ann.ID, "no id", bob.ID})
		require.NoError(t, err)
		assert.Equal(t, map[string]account.Player{ann.ID: ann, bob.ID: bob}, players)
	})
}

// Ensure that a store error is not mistaken for a result.
func TestStore_Fails(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	a := account.New(storetest.New(t).Accounts, keep)
	player, token := id.New(), id.New()+"."+secretA
	for name, call := range map[string]func() error{
		"Create": func() error { _, _, err := a.Create(ctx, "Bob", "", false); return err },
		"Get":    func() error { _, err := a.Get(ctx, player); return err },
		"Find":   func() error { _, err := a.Find(ctx, "Bob"); return err },
		"Verify": func() error { _, err := a.Verify(ctx, token); return err },
		"Rename": func() error { _, err := a.Rename(ctx, player, "Bob"); return err },
		"Rotate": func() error { _, err := a.Rotate(ctx, player+"."+secretA, ""); return err },
		"Renew":  func() error { return a.Renew(ctx, player) },
	} {
		err := call()
		require.ErrorIs(t, err, context.Canceled, name)
		for _, own := range []error{account.ErrBadToken, account.ErrNameTaken, account.ErrNotFound} {
			assert.NotErrorIs(t, err, own, name)
		}
	}
}

func requireField(t *testing.T, err error, field string) {
	t.Helper()
	var e *invalid.Error
	require.ErrorAs(t, err, &e)
	assert.Equal(t, field, e.Field)
}
