package cli

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/client"
)

// Ensure that a command that needs an account creates one with the name that the user has just chosen.
func TestAccounts(t *testing.T) {
	t.Parallel()
	server := someServer(t)
	// If the server no longer knows the account, a name that the user has just chosen is used.
	renamed := newUser(t, server, "eve")
	require.NoError(t, renamed.store.Save(server, client.Credential{PlayerID: evilOne, Name: "olga", Token: evilToken}))
	renamed.ok("account", "new", "pavel")
	assert.Contains(t, renamed.ok("account"), "pavel on ")
	stale := newUser(t, server, "eve")
	require.NoError(t, stale.store.Save(server, client.Credential{PlayerID: evilOne, Name: "olga", Token: evilToken}))
	s := stale.sit("play")
	s.sees("! " + server + " no longer knows the account olga: you now play as olga")
	s.types("\x03")
	s.ends(exitInterrupted)

	bob := newUser(t, server, "bob")
	bob.fails(exitUsage, "name must be", "account", "new", "b\xffb")

	// If only the token was replaced elsewhere, no other account is created, and an import needs no flag.
	bob.ok("account", "new", "bob")
	token := strings.TrimSpace(bob.ok("account", "token"))
	shown := bob.sit("account", "token")
	shown.ends(exitOK)
	assert.Contains(t, shown.said(), "the prompt of gridstand account import --server "+server+".",
		"the other machine may have no "+serverVariable)
	cred, _, err := bob.store.Load(server)
	require.NoError(t, err)
	cred.Token = cred.PlayerID + "." + client.NewSecret()
	require.NoError(t, bob.store.Save(server, cred))
	bob.fails(exitMissing, "was replaced: the server does not know this token. Enter the new one: gridstand account import.", "new")
	s = bob.sit("account", "import")
	s.types(token + "\n")
	s.ends(exitOK)
	assert.Contains(t, bob.ok("account"), "bob on ")
}

// Ensure that a token that was used over TLS is never sent in clear text, that every
// command that would do so suggests --tls, and that --replace creates a new account.
func TestAccounts_TLSForgotten(t *testing.T) {
	t.Parallel()
	ada := newUser(t, someServer(t), "ada")
	ada.ok("account", "new", "ada")
	cred, _, err := ada.store.Load(ada.server)
	require.NoError(t, err)
	cred.TLS = true
	require.NoError(t, ada.store.Save(ada.server, cred))
	for _, args := range [][]string{
		{"account", "new", "ada"},
		{"account", "rotate"},
		{"new"},
		{"games", "--mine"},
		{"move", strings.Repeat("a", 26), "up"},
		{"watch", "abcdef"},
	} {
		_, note, code := ada.run(args...)
		assert.Equal(t, exitFailed, code, "%v", args)
		assert.Contains(t, note, "not sent in clear text. Add --tls", "%v", args)
	}
	kept, _, err := ada.store.Load(ada.server)
	require.NoError(t, err)
	assert.Equal(t, cred, kept)
	ada.ok("games") // needs no token
	assert.Contains(t, ada.ok("account", "new", "eve", "--replace"), "eve on ")
	ada.ok("new")
}

// Ensure that the user is warned, once, before a token is sent to another machine in clear text.
func TestAccounts_Exposed(t *testing.T) {
	t.Parallel()
	const warning = "Warning: the connection to gridstand.invalid:2048 is not encrypted"
	for name, tt := range map[string]struct {
		server string
		flags  globalFlags
		times  int
	}{
		"another machine": {"gridstand.invalid", globalFlags{}, 1},
		"over TLS":        {"gridstand.invalid", globalFlags{tls: true}, 0},
		"this machine":    {"127.0.0.1:1", globalFlags{}, 0},
	} {
		var note output
		p := newUser(t, tt.server, "ada").program(&note, &note)
		p.flags = tt.flags
		c, err := p.dial()
		require.NoError(t, err)
		p.warnExposed(c)
		p.warnExposed(c)
		p.disconnect()
		assert.Equal(t, tt.times, strings.Count(note.String(), warning), name)
	}
}
