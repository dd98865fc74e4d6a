package cli

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/client"
)

// TestAccounts makes them by hand, from the login name, and by asking.
func TestAccounts(t *testing.T) {
	t.Parallel()
	server := someServer(t)
	ada := newUser(t, server, "whatever")
	assert.Contains(t, ada.ok("login", "ada"), "ada on ")
	assert.Contains(t, ada.ok("login", "Ada"), "ada on ", "there is no other of that name")
	ada.fails(exitFailed, "--replace", "login", "eve")
	kept := func() client.Credential {
		cred, found, err := ada.store.Load(ada.server)
		require.NoError(t, err)
		require.True(t, found)
		return cred
	}
	before := kept()
	assert.Contains(t, ada.ok("login", "--rotate"), "ada on ")
	assert.Equal(t, before.PlayerID, kept().PlayerID)
	assert.NotEqual(t, before.Token, kept().Token)
	assert.Contains(t, ada.ok("whoami"), "ada on ")
	ada.fails(exitUsage, "login", "login", "--rotate", "ada")
	assert.Contains(t, ada.ok("login", "eve", "--replace"), "eve on ")
	_, note, _ := ada.run("new", "--name", "mallory")
	assert.Contains(t, note, "You are eve")

	// A name that is refused does not cost the account that there is.
	newUser(t, server, "whoever").ok("login", "taken")
	eve := kept()
	for name, code := range map[string]int{"Taken": exitFailed, "bad/name": exitUsage} {
		ada.fails(code, "the name", "login", name, "--replace")
		assert.Equal(t, eve, kept())
		assert.Contains(t, ada.ok("whoami"), "eve on ")
	}

	second := newUser(t, server, "ada")
	second.fails(exitFailed, "already taken", "new", "--name", "ADA")
	second.ok("new")
	assert.Contains(t, second.ok("whoami"), "ada-2 on ", "a number where the login name is taken")

	asked := newUser(t, server, "grace")
	asked.terminal, asked.in = true, strings.NewReader("bad/name\n")
	_, note, code := asked.run("new")
	assert.Equal(t, exitFailed, code)
	assert.Contains(t, note, "Your name on "+server+" [grace]: ")
	asked.in = strings.NewReader("\n")
	asked.ok("new")
	assert.Contains(t, asked.ok("whoami"), "grace on ")
}

// Ensure every command that would send a token that was used over TLS says what
// to do instead, and --replace makes a new account.
func TestAccounts_TLSForgotten(t *testing.T) {
	t.Parallel()
	ada := newUser(t, someServer(t), "ada")
	ada.ok("login", "ada")
	cred, _, err := ada.store.Load(ada.server)
	require.NoError(t, err)
	cred.TLS = true
	require.NoError(t, ada.store.Save(ada.server, cred))
	for _, args := range [][]string{
		{"login", "ada"},
		{"login", "--rotate"},
		{"whoami"},
		{"new"},
		{"games", "--mine"},
		{"top", "--me"},
		{"bot", "greedy", "classic"},
		{"move", strings.Repeat("a", 26), "up"},
		{"join", strings.Repeat("a", 26)},
		{"watch", "abcdef"},
	} {
		_, note, code := ada.run(args...)
		assert.Equal(t, exitFailed, code, "%v", args)
		assert.Contains(t, note, "not sent in clear text. Add --tls", "%v", args)
	}
	kept, _, err := ada.store.Load(ada.server)
	require.NoError(t, err)
	assert.Equal(t, cred, kept)
	ada.ok("games") // It needs no token.
	assert.Contains(t, ada.ok("login", "eve", "--replace"), "eve on ")
	ada.ok("new")
}

// Ensure the user is warned before a token goes to another machine in clear text.
func TestAccounts_Exposed(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("takes seconds")
	}
	ada := newUser(t, "gridstand.invalid", "ada")
	const warning = "Warning: the connection to gridstand.invalid:2048 is not encrypted"
	for _, args := range [][]string{{"login", "ada"}, {"new"}, {"whoami"}} {
		require.NoError(t, ada.store.Save("gridstand.invalid:2048", client.Credential{
			PlayerID: evilOne, Name: "ada", Token: evilToken,
		}))
		_, note, code := ada.run(args...)
		assert.Equal(t, exitFailed, code)
		assert.Equal(t, 1, strings.Count(note, warning), "%v: %s", args, note)
		_, note, _ = ada.run(append(args, "--tls")...)
		assert.NotContains(t, note, "Warning", "%v", args)
	}
	_, note, _ := newUser(t, someServer(t), "ada").run("login", "ada")
	assert.NotContains(t, note, "Warning", "on this machine")
}
