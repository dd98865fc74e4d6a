package client_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/client"
	waittest "github.com/gridstand/gridstand/internal/testkit/wait"
)

// Ensure that a token from another program gives access to its account, and that a
// malformed or unknown token changes nothing.
func TestAdopt(t *testing.T) {
	t.Parallel()
	a, config, store := startAccounts(t)
	there := newStore(t)
	c := dial(t, config)
	made := logIn(t, c, there, "ada")

	c = dial(t, config)
	got, err := client.Adopt(waittest.Context(t), c, store, made.Token)
	require.NoError(t, err)
	assert.Equal(t, made, got)
	assert.Equal(t, made.PlayerID, c.PlayerID())
	assert.Equal(t, made, load(t, store, c.Target()))

	calls := a.made("getPlayer")
	for name, token := range map[string]string{
		"empty":          "",
		"no secret":      made.PlayerID,
		"a short secret": made.Token[:len(made.Token)-1],
		"a long secret":  made.PlayerID + "." + strings.Repeat("a", 129),
		"no player":      "." + made.Token[27:],
		"a line break":   made.PlayerID + ".\n" + made.Token[27:],
		"upper case":     strings.ToUpper(made.Token),
	} {
		_, err = client.Adopt(waittest.Context(t), c, store, token)
		require.ErrorIs(t, err, client.ErrInvalid, name)
	}
	assert.Equal(t, calls, a.made("getPlayer"), "the client sent a malformed token")
	_, err = client.Adopt(waittest.Context(t), c, store, playerID+"."+client.NewSecret())
	require.ErrorIs(t, err, client.ErrBadToken)
	assert.Equal(t, made, load(t, store, c.Target()))
}

// Ensure that Adopt drops the account that the client acts for, and only that account.
func TestAdopt_Previous(t *testing.T) {
	t.Parallel()
	a, config, store := startAccounts(t)
	there := newStore(t)
	c := dial(t, config)
	logIn(t, c, store, "old")
	a.forget() // Another server has taken over the address.
	made := logIn(t, dial(t, config), there, "ada")

	c = dial(t, config)
	got, err := client.Adopt(waittest.Context(t), c, store, made.Token)
	require.NoError(t, err)
	require.NotNil(t, got.Previous)
	assert.Equal(t, "old", got.Previous.Name)

	other := logIn(t, dial(t, config), newStore(t), "bob")
	got, err = client.Adopt(waittest.Context(t), c, store, other.Token)
	require.NoError(t, err)
	assert.Equal(t, "bob", got.Name)
	require.NotNil(t, got.Previous)
	assert.Equal(t, "old", got.Previous.Name, "ada should have been dropped")
	assert.Nil(t, got.Previous.Previous)
}
