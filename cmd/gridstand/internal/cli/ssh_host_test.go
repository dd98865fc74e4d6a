//go:build unix

package cli

import (
	"io"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/cmd/gridstand/internal/sshhost"
	"github.com/gridstand/gridstand/internal/testkit/longtest"
	"github.com/gridstand/gridstand/internal/usage"
	"github.com/gridstand/gridstand/server"
)

// Ensure that a host logs an error if the server refuses its credential, and that clients
// can still watch.
func TestSSHHost_CredentialRefused(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("too slow for -short")
	}
	file := filepath.Join(t.TempDir(), "credential")
	require.NoError(t, os.WriteFile(file, []byte("gridstand_ssh_aaaaaaaaaaaaaaaaaaaaaaaaaa\n"), 0o600))
	h := startSSH(t, someServer(t), "--credential-file", file)
	const line = `level=ERROR msg="the server refuses the service credential; players can only watch" id=ssh-credential-refused`
	log := h.log.String()
	assert.Contains(t, log, line, "before the first session")
	assert.Regexp(t, `remedy="[^"]*gridstand-server ssh-credential create`, log)
	assert.Contains(t, log, "can_play=false")
	assert.Contains(t, h.ok(t, []string{newKey(t)}, "variants"), "tribolo")
	assert.Equal(t, 2, strings.Count(h.log.String(), line), "with the first session")
	assert.NotContains(t, h.log.String(), "aaaaaaaa", "the credential is secret")
}

// Ensure that a host checks on startup whether people can play, and tells its operator what
// to do if they cannot.
func TestSSHHost_Start(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("too slow for -short")
	}
	t.Run("with a valid credential people can play", func(t *testing.T) {
		t.Parallel()
		address, credential, _ := hostedServer(t)
		log := startSSH(t, address, "--credential-file", credential).log.String()
		assert.Contains(t, log, "can_play=true")
		assert.NotRegexp(t, "level=(WARN|ERROR)", log)
	})
	t.Run("a credential that is sent in clear text", func(t *testing.T) {
		t.Parallel()
		_, credential, _ := hostedServer(t)
		for _, c := range []struct {
			args   []string
			warned bool
		}{
			{[]string{"--credential-file", credential}, true},
			{[]string{"--credential-file", credential, "--tls"}, false},
			{nil, false},
		} {
			log := startSSH(t, "gridstand.invalid", c.args...).log.String()
			assert.Equal(t, c.warned, strings.Contains(log, "id=ssh-clear-text"), log)
		}
	})
	t.Run("without a credential people can only watch", func(t *testing.T) {
		t.Parallel()
		log := startSSH(t, someServer(t)).log.String()
		assert.Regexp(t, `level=WARN .* id=ssh-credential-missing remedy=".*gridstand-server ssh-credential create.*--credential-file`, log)
		assert.Contains(t, log, "can_play=false")
		assert.NotContains(t, log, "ssh-server-away")
	})
	t.Run("a server that does not answer is reported", func(t *testing.T) {
		t.Parallel()
		address, credential, _ := hostedServer(t)
		for _, args := range [][]string{nil, {"--credential-file", credential}} {
			log := startSSH(t, "127.0.0.1:1", args...).log.String()
			assert.Regexp(t, `level=WARN .* id=ssh-server-away error=.*refused.* remedy="check that the server is running`, log)
			assert.Contains(t, log, "can_play=false")
		}
		log := startSSH(t, address, "--tls").log.String()
		assert.Regexp(t, `level=WARN .* id=ssh-server-away .* remedy="Omit --tls`, log)
	})
}

// Ensure that a host does not start with invalid settings.
func TestSSHHost_Settings(t *testing.T) {
	t.Parallel()
	u := newUser(t, "127.0.0.1:1", "host")
	empty, key := filepath.Join(t.TempDir(), "empty"), filepath.Join(t.TempDir(), "key")
	require.NoError(t, os.WriteFile(empty, nil, 0o600))
	u.fails(exitUsage, "contains no service credential; create one with gridstand-server ssh-credential create", "ssh-host", "--credential-file", empty)
	garbage := filepath.Join(t.TempDir(), "garbage")
	for _, text := range []string{"garbage", "gridstand_ssh_a b", "gridstand_ssh_\xff", "gridstand_ada_aaaa"} {
		require.NoError(t, os.WriteFile(garbage, []byte(text), 0o600))
		u.fails(exitUsage, "contains no service credential", "ssh-host", "--credential-file", garbage)
	}
	u.fails(exitFailed, "no such file or directory; create a credential with gridstand-server ssh-credential create", "ssh-host", "--credential-file", key)
	u.fails(exitUsage, "must be 1 or more", "ssh-host", "--max-sessions", "0")
	u.fails(exitUsage, "must be 0 or more", "ssh-host", "--idle-timeout", "-1s")
	u.env = []string{"GRIDSTAND_SSH_MAX_SESSIONS=many"}
	u.fails(exitUsage, `GRIDSTAND_SSH_MAX_SESSIONS must be a whole number, not "many"`, "ssh-host")
	u.env = nil
	u.fails(exitFailed, "; --host-key selects another file", "ssh-host", "--host-key", filepath.Join(empty, "key"))
	u.fails(exitFailed, "listen", "ssh-host", "--host-key", key, "--listen", "256.0.0.1:1")
	u.state = "" // as without a home directory
	u.fails(exitUsage, "--host-key must name a file; there is a default only if HOME is set", "ssh-host")
}

// Ensure that other programs know the variables of this one.
func TestSSHHost_Variables(t *testing.T) {
	t.Parallel()
	for _, variable := range slices.AppendSeq([]string{serverVariable}, maps.Values(sshVariables)) {
		unknown, err := usage.CheckEnvironment([]string{variable + "=1"}, nil)
		require.NoError(t, err)
		assert.Empty(t, unknown)
	}
}

// Ensure that on a terminal, commands that list games or scores open a page instead, and that a guest
// can see the standings of the daily game.
func TestTerminal_SSHPages_long(t *testing.T) {
	longtest.Skip(t)
	t.Parallel()
	p := newPanes(t)
	h := startSSH(t, someServer(t))
	for command, want := range map[string]string{
		"top": "Top classic", "top 5x5": "Top 5x5", "games": "Live games", "variants tribolo": "red and green begin",
		"daily": "Standings",
	} {
		pane := "page-" + strings.ReplaceAll(command, " ", "-") // tmux itself uses the target "top"
		p.run(pane, h.command(nil, "-t "+command))
		p.sees(pane, want)
		p.tmux("send-keys", "-t", pane, "C-c")
		p.sane(pane, exitInterrupted)
	}
	p.run("table", h.command(nil, "-t variants"))
	p.sees("table", "restless")
	p.sane("table", exitOK)
}

// Ensure that SSH clients can play challenges with the same commands as other users, and
// that commands that print text need no terminal.
func TestTerminal_SSHChallenges_long(t *testing.T) {
	longtest.Skip(t)
	t.Parallel()
	p := newPanes(t)
	clock := noon() // so that the day does not end during the test
	address, credential, _ := hostedServer(t, func(c *server.Config) { c.StoreNow = clock.now })
	h, key := startSSH(t, address, "--credential-file", credential), newKey(t)
	assert.Regexp(t, `^Daily [\d-]+: open, closes in .*\nid +[a-z2-7]{26}\nvariant +classic\n`, h.ok(t, nil, "daily"))
	assert.Regexp(t, `(?s)^Daily .*No attempt that counts has finished yet.\n$`, h.ok(t, nil, "standings daily"))
	for command, want := range map[string]string{
		"race": "ssh -t", "join aaaaaa": "ssh -t", "standings": "usage: standings CHALLENGE|daily|yesterday", "race 3x3 5 6": "usage: race [VARIANT] [MINUTES]",
	} {
		out, code := h.run(t, nil, command)
		assert.NotZero(t, code, command)
		assert.Contains(t, out, want, command)
	}

	p.run("race", h.command([]string{key}, "-t race 3x3 2"))
	p.sees("race", "(?s)What should others call you.*▸ ada")
	p.tmux("send-keys", "-t", "race", "Enter")
	shown := p.sees("race", `(?s)Race of 2 min.*3x3.*Others.*join [a-z2-7]{26}`)
	race := regexp.MustCompile(`join ([a-z2-7]{26})`).FindStringSubmatch(shown)[1]
	bob := newUser(t, address, "bob")
	bob.ok("join", race)
	p.sees("race", `bob`)
	p.run("guest", h.command(nil, "-t standings "+race))
	p.sees("guest", `(?s)Race of 2 min.*bob`)
	p.run("daily", h.command([]string{key}, "-t daily"))
	p.sees("daily", "(?s)GRIDSTAND +Daily")
	p.run("challenge", h.command([]string{key}, "-t challenge 3x3"))
	p.sees("challenge", `(?s)Challenge by ada, 3x3.*Others play it with.*ssh -t <this host> join [a-z2-7]{26}`)
	p.tmux("send-keys", "-t", "challenge", "Enter")
	p.sees("challenge", `MOVES +0`)
	p.run("beat", h.command([]string{key}, "-t beat "+bob.finished(5)))
	p.sees("beat", `(?s)Rematch: beat bob's \d+.*Others play it with.*ssh -t <this host> join [a-z2-7]{26}`)
	p.tmux("send-keys", "-t", "beat", "Enter")
	p.sees("beat", `(?s)Rematch: beat bob's \d+.*TO BEAT`)
}

// Ensure that SSH clients are shown only commands that they can use.
func TestTerminal_SSHJoin_long(t *testing.T) {
	longtest.Skip(t)
	t.Parallel()
	p := newPanes(t)
	address, credential, _ := hostedServer(t)
	h, key := startSSH(t, address, "--credential-file", credential), newKey(t)
	carol := newUser(t, address, "carol")
	id := strings.TrimSpace(carol.ok("new", "tribolo", "--seats", "me,open,open"))
	p.run("join", h.command([]string{key}, "-t play "+id))
	p.sees("join", "(?s)What should others call you.*▸ ada")
	p.tmux("send-keys", "-t", "join", "Enter")
	p.sees("join", `(?s)Others join with.*ssh -t <this host> join\s.*`+id[:8])
	newUser(t, address, "bob").ok("join", id)
	p.sees("join", "Arrows aim")
	p.tmux("send-keys", "-t", "join", "q")
	p.sane("join", exitOK)
	shown := p.sees("join", `(?s).*Resume it\s+with\s+ssh.*exit=0`)
	assert.NotContains(t, shown, "gridstand ")
	assert.Contains(t, h.ok(t, nil, "variants tribolo"), "Play it: ssh -t <this host> play tribolo\n")
	p.run("missing", h.command([]string{newKey(t)}, "-t join "+strings.Repeat("a", 26)))
	p.sees("missing", "there is no game with this id")
	p.sane("missing", exitMissing)
}

func TestRemote_Typed(t *testing.T) {
	t.Parallel()
	for words, want := range map[string]string{
		"play":               "ssh -t <this host> play",
		"watch kx3fq2ab":     "ssh -t <this host> watch kx3fq2ab",
		"join kx3fq2ab":      "ssh -t <this host> join kx3fq2ab",
		"verify kx3fq2ab":    "",
		"games --status all": "",
	} {
		r := &remote{command: "ssh -t <this host>"}
		assert.Equal(t, want, r.typed(strings.Fields(words)...), words)
	}
}

// Ensure that a host shows commands that people can paste if it knows its address.
func TestSSHCommand(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]string{
		"":                  "ssh -t <this host>",
		"play.example":      "ssh -t play.example",
		"play.example:22":   "ssh -t play.example",
		"play.example:2222": "ssh -p 2222 -t play.example",
		"[2001:db8::1]:222": "ssh -p 222 -t 2001:db8::1",
	} {
		got, err := sshCommand(address)
		require.NoError(t, err)
		assert.Equal(t, want, got)
	}
	for _, address := range []string{"-oProxyCommand=x", "play.example; x", "play.example:99999", ":2222", "a b"} {
		_, err := sshCommand(address)
		require.ErrorContains(t, err, "--address", address)
	}
}

// Ensure that a guest is told to create a key only by a host on which keys can play.
func TestSSHHost_Guest(t *testing.T) {
	t.Parallel()
	c, disconnect, err := newUser(t, "127.0.0.1:1", "host").program(io.Discard, io.Discard).dial()
	require.NoError(t, err)
	defer disconnect()
	for credential, want := range map[string]error{"": errOnlyWatching, "gridstand_ssh_a": errGuest} {
		assert.Equal(t, want, new(program).overSSH(&sshhost.Session{}, c, credential, "").over.refusal)
	}
}
