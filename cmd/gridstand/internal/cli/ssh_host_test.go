//go:build unix

package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Ensure that a host whose credential the server refuses says so to its operator, and
// that people still watch.
func TestSSHHost_CredentialRefused(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "credential")
	require.NoError(t, os.WriteFile(file, []byte("gridstand_ssh_aaaaaaaaaaaaaaaaaaaaaaaaaa\n"), 0o600))
	h := startSSH(t, someServer(t), "--credential-file", file)
	assert.Contains(t, h.ok(t, []string{newKey(t)}, "variants"), "tribolo")
	assert.Contains(t, h.log.String(), `level=ERROR msg="the server refuses the service credential; players can only watch"`)
	assert.NotContains(t, h.log.String(), "aaaaaaaa", "the credential is secret")
}

// Ensure that a host does not start with settings that make no sense.
func TestSSHHost_Settings(t *testing.T) {
	t.Parallel()
	u := newUser(t, "127.0.0.1:1", "host")
	empty, key := filepath.Join(t.TempDir(), "empty"), filepath.Join(t.TempDir(), "key")
	require.NoError(t, os.WriteFile(empty, nil, 0o600))
	u.fails(exitUsage, "has no service credential", "ssh-host", "--credential-file", empty)
	u.fails(exitFailed, "no such file", "ssh-host", "--credential-file", key)
	u.fails(exitUsage, "must be 1 or more", "ssh-host", "--max-sessions", "0")
	u.fails(exitUsage, "must be 0 or more", "ssh-host", "--idle-timeout", "-1s")
	u.fails(exitFailed, "host key: ", "ssh-host", "--host-key", filepath.Join(empty, "key"))
	u.fails(exitFailed, "listen", "ssh-host", "--host-key", key, "--listen", "256.0.0.1:1")
}

// Ensure that on a terminal the words for lists open their pages.
func TestTerminal_SSHPages(t *testing.T) {
	t.Parallel()
	p := newPanes(t)
	h := startSSH(t, someServer(t))
	for command, want := range map[string]string{
		"top": "Top classic", "games": "Live games", "variants": "r rules", "variants tribolo": "red and green begin",
	} {
		pane := "page-" + strings.ReplaceAll(command, " ", "-") // "top" alone is a pane of tmux
		p.run(pane, h.command(nil, "-t "+command))
		p.sees(pane, want)
		p.tmux("send-keys", "-t", pane, "C-c")
		p.sane(pane, exitInterrupted)
	}
	p.run("table", h.command(nil, "-t top 5x5"))
	p.sees("table", "There are no scores on this board yet")
	p.sane("table", exitOK)
}

// Ensure that SSH clients are told commands that they have, and take a seat with play.
func TestTerminal_SSHJoin(t *testing.T) {
	t.Parallel()
	p := newPanes(t)
	address, credential, _ := hostedServer(t)
	h, key := startSSH(t, address, "--credential-file", credential), newKey(t)
	carol := newUser(t, address, "carol")
	id := strings.TrimSpace(carol.ok("new", "tribolo", "--seats", "me,open,open"))
	p.run("join", h.command([]string{key}, "-t play "+id))
	p.sees("join", "(?s)What should others call you.*▸ ada")
	p.tmux("send-keys", "-t", "join", "Enter")
	p.sees("join", `(?s)Others join with.*ssh -t <this host> play\s.*`+id[:8])
	newUser(t, address, "bob").ok("join", id)
	p.sees("join", "Arrows aim")
	p.tmux("send-keys", "-t", "join", "q")
	p.sane("join", exitOK)
	shown := p.sees("join", `(?s).*Resume it\s+with\s+ssh.*exit=0`)
	assert.NotContains(t, shown, "gridstand ")
	assert.Contains(t, h.ok(t, nil, "variants tribolo"), "Play it: ssh -t <this host> play tribolo\n")
}

func TestRemote_Typed(t *testing.T) {
	t.Parallel()
	for words, want := range map[string]string{
		"play":               "ssh -t <this host> play",
		"watch kx3fq2ab":     "ssh -t <this host> watch kx3fq2ab",
		"join kx3fq2ab":      "ssh -t <this host> play kx3fq2ab",
		"verify kx3fq2ab":    "",
		"games --status all": "",
	} {
		assert.Equal(t, want, new(remote).typed(strings.Fields(words)...), words)
	}
}
