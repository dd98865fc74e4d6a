//go:build unix

package cli

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestTerminal_Token shows the token of an account, with a warning, and uses the account
// on another terminal, which does not show the pasted token.
func TestTerminal_Token(t *testing.T) {
	t.Parallel()
	p, server := newPanes(t), someServer(t)
	ada := newUser(t, server, "ada")
	ada.ok("login", "ada")
	token := strings.TrimSpace(ada.ok("whoami", "--show-token"))

	p.open("typed", "login --token --server "+server)
	p.sees("typed", `Token of your account on .* \(it is not shown\):`)
	p.tmux("send-keys", "-t", "typed", token, "Enter")
	shown := p.sees("typed", `(?s).*ada on .*exit=0 icanon echo`)
	assert.NotContains(t, shown, token[:26]+".")

	p.open("interrupted", "login --token --server "+server)
	p.sees("interrupted", `it is not shown`)
	p.tmux("send-keys", "-t", "interrupted", "C-c")
	p.sees("interrupted", "exit=130 icanon echo")

	ada.terminal = true
	out, note, _ := ada.run("whoami", "--show-token")
	assert.Equal(t, token+"\n", out)
	assert.Contains(t, note, "anyone can play as ada")
}
