package cli

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/client"
)

// TestAccounts asks for a name on a terminal, and refuses one that is not UTF-8.
func TestAccounts(t *testing.T) {
	t.Parallel()
	server := someServer(t)
	asked := newUser(t, server, "grace")
	asked.terminal, asked.in = true, strings.NewReader("bad/name\n")
	_, note, code := asked.run("new")
	assert.Equal(t, exitFailed, code)
	assert.Contains(t, note, "Your name on "+server+" [grace]: ")
	asked.in = strings.NewReader("\n")
	asked.ok("new")
	assert.Contains(t, asked.ok("whoami"), "grace on ")
	newUser(t, server, "bob").fails(exitUsage, "name must be", "login", "b\xffb")
}

// Ensure that every command that would send a token that was used over TLS says
// what to do instead, and --replace makes a new account.
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

// Ensure that the user is warned before a token goes to another machine in
// clear text.
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
