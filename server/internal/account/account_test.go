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

// Ensure that an invalid name, secret or id is refused without accessing the store.
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
	for _, unknown := range []string{"", "me", id.New() + "}", strings.Repeat("x", 1<<20)} {
		_, err := accounts.Get(t.Context(), unknown)
		require.ErrorIs(t, err, account.ErrNotFound)
	}
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
