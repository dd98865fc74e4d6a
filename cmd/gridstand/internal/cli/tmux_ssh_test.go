//go:build unix

package cli

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/internal/testkit/longtest"
	servertest "github.com/gridstand/gridstand/internal/testkit/server"
	"github.com/gridstand/gridstand/server"
)

// sshHost is an SSH host that runs in the test process.
type sshHost struct {
	port, known string
	log         *output
	stop        func() // waits until the host has stopped
}

// startSSH starts an SSH host for a server.
func startSSH(t *testing.T, server string, args ...string) *sshHost {
	t.Helper()
	if _, err := exec.LookPath("ssh"); err != nil {
		t.Skip("ssh is not installed")
	}
	dir := t.TempDir()
	h := &sshHost{known: filepath.Join(dir, "known_hosts"), log: &output{}}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan int, 1)
	args = append([]string{"ssh-host", "--listen", "127.0.0.1:0", "--host-key", filepath.Join(dir, "host_key")}, args...)
	go func() { done <- newUser(t, server, "host").program(h.log, h.log).run(ctx, args) }()
	h.stop = func() {
		cancel()
		select {
		case code := <-done:
			assert.Equal(t, exitOK, code, h.log)
			done <- code
		case <-time.After(limit):
			assert.Fail(t, "the host did not stop", h.log)
		}
	}
	t.Cleanup(h.stop)
	var address string
	require.Eventually(t, func() bool {
		found := regexp.MustCompile(`msg=serving address=(\S+)`).FindStringSubmatch(h.log.String())
		if found != nil {
			address = found[1]
		}
		return found != nil
	}, limit, 5*time.Millisecond)
	var err error
	_, h.port, err = net.SplitHostPort(address)
	require.NoError(t, err)
	return h
}

// command returns the command line of an SSH client with the given keys.
func (h *sshHost) command(keys []string, args string) string {
	command := "ssh -F none -p " + h.port + " -o StrictHostKeyChecking=accept-new -o LogLevel=ERROR -o SendEnv=COLORTERM" +
		" -o IdentitiesOnly=yes -o IdentityAgent=none -o UserKnownHostsFile=" + h.known
	if len(keys) == 0 {
		command += " -o PubkeyAuthentication=no"
	}
	for _, key := range keys {
		command += " -i " + key
	}
	return command + " ada@127.0.0.1 " + args
}

// run runs an SSH client without a terminal.
func (h *sshHost) run(t *testing.T, keys []string, args string) (out string, code int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, "sh", "-c", "exec "+h.command(keys, args))
	text, _ := cmd.CombinedOutput()
	require.NoError(t, ctx.Err())
	return string(text), cmd.ProcessState.ExitCode()
}

// ok runs an SSH client that must succeed and returns its output.
func (h *sshHost) ok(t *testing.T, keys []string, args string) string {
	t.Helper()
	out, code := h.run(t, keys, args)
	require.Zero(t, code, out)
	return out
}

// sane waits until a pane's command has ended, and checks that it restored the terminal.
func (p *panes) sane(pane string, code int) {
	p.t.Helper()
	p.sees(pane, fmt.Sprintf("exit=%d icanon echo", code))
	for _, mode := range []string{"alternate_on", "mouse_any_flag", "keypad_flag"} {
		assert.Equal(p.t, "0\n", p.tmux("display-message", "-p", "-t", pane, "#{"+mode+"}"), mode)
	}
	assert.Equal(p.t, "1\n", p.tmux("display-message", "-p", "-t", pane, "#{cursor_flag}"))
}

// Ensure that a user who has only an SSH client can watch a game, and is told how to play.
func TestTerminal_SSHGuest_long(t *testing.T) {
	longtest.Skip(t)
	t.Parallel()
	p := newPanes(t)
	server, credential, _ := hostedServer(t, func(c *server.Config) { c.BotPace = 0 })
	h := startSSH(t, server, "--credential-file", credential)
	ada := newUser(t, server, "ada")
	id := strings.TrimSpace(ada.ok("new"))
	start := time.Now()
	p.run("lobby", h.command(nil, ""))
	p.sees("lobby", `(?s)Live games.*classic +ada`)
	t.Logf("the lobby appeared after %v", time.Since(start))
	p.tmux("send-keys", "-t", "lobby", "C-z") // must not suspend the host
	p.tmux("send-keys", "-t", "lobby", "n")
	p.sees("lobby", "! You are a guest")
	require.NoError(t, syscall.Kill(p.pid("lobby"), syscall.SIGKILL)) // simulate a client that disappears
	require.Eventually(t, func() bool { return strings.Contains(h.log.String(), "session ended") }, limit, 10*time.Millisecond)

	p.run("watch", h.command(nil, "-t watch "+id[:8]))
	p.sees("watch", "move 0,")
	for _, d := range []string{"up", "left", "down", "right"} {
		ada.run("move", id, d)
	}
	p.sees("watch", `move [1-4],`)
	p.tmux("resize-window", "-t", "watch", "-x", "12", "-y", "4")
	p.sees("watch", "The window")
	p.tmux("resize-window", "-t", "watch", "-x", "120", "-y", "36")
	p.sees("watch", `move [1-4],`)
	p.tmux("send-keys", "-t", "watch", "C-c")
	p.sane("watch", exitInterrupted)

	p.run("tv", h.command(nil, "-t tv"))
	p.sees("tv", `● live|○ idle`) // idle if the last move was more than half a minute ago
	h.stop()
	p.sees("tv", "this host is stopping; connect again in a moment")
	p.sane("tv", exitInterrupted)
}

// Ensure that without a terminal, lists are printed as text, and that there is no shell.
func TestSSH_Commands(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("too slow for -short")
	}
	server := someServer(t)
	h := startSSH(t, server)
	id := strings.TrimSpace(newUser(t, server, "ada").ok("new"))
	for _, tt := range []struct {
		args, want string
		code       int
	}{
		{"games", id[:6] + "  classic  ada ", exitOK},
		{"top", "no scores on this board yet", exitOK},
		{"top nonsense", "there is no variant \"nonsense\"", exitMissing},
		{"variants", "tribolo   11×16 ", exitOK},
		{"variants tribolo", "Blue, red and green begin", exitOK},
		{"help", "  tv  ", exitOK},
		{"", "this needs a terminal: ssh -t <this host>", exitUsage},
		{"play vt100", "this needs a terminal: ssh -t <this host> play vt100", exitUsage},
		{"'games; id'", "there is no command \"games;\"", exitUsage},
		{"id", "there is no command \"id\"", exitUsage},
		{"-s sftp", "subsystem request failed", 255},
		{"-W 127.0.0.1:1", "forwarding failed", 255},
		{"-N -o ExitOnForwardFailure=yes -R 0:127.0.0.1:1", "forwarding failed", 255}, // without a command, which could end first
	} {
		out, code := h.run(t, nil, tt.args)
		assert.Contains(t, out, tt.want, tt.args)
		assert.Equal(t, tt.code, code, tt.args)
	}
}

// hostedServer starts a server that trusts an SSH host on this machine. It returns the
// server's address, the file with the host's credential, and the server's configuration. adapt
// may change the configuration.
func hostedServer(t *testing.T, adapt ...func(*server.Config)) (address, credential string, config server.Config) {
	t.Helper()
	config = servertest.Config(t)
	for _, change := range adapt {
		change(&config)
	}
	config.Store = server.File(filepath.Join(t.TempDir(), "games.db"))
	config.Proxies = "127.0.0.1"
	s, _ := servertest.Start(t, config)
	operator, err := server.Operate(t.Context(), config)
	require.NoError(t, err)
	made, err := operator.CreateCredential(t.Context(), "host")
	require.NoError(t, err)
	operator.Close()
	credential = filepath.Join(t.TempDir(), "credential")
	require.NoError(t, os.WriteFile(credential, []byte(made+"\n"), 0o600))
	return s.Addr().String(), credential, config
}

// newKey creates an SSH key and returns its file.
func newKey(t *testing.T) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "key")
	out, err := exec.CommandContext(t.Context(), "ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", file).CombinedOutput()
	require.NoError(t, err, "%s", out)
	return file
}

// Ensure that an SSH key identifies the same account after the host restarts and on another
// host, and that a different key has a different account, even if the client offers both.
func TestTerminal_SSHAccounts_long(t *testing.T) {
	longtest.Skip(t)
	t.Parallel()
	p := newPanes(t)
	address, credential, _ := hostedServer(t)
	args := []string{"--credential-file", credential}
	first := startSSH(t, address, args...)
	ada, bob := newKey(t), newKey(t)

	p.run("ada", first.command([]string{ada}, "-t play"))
	p.sees("ada", "(?s)What should others call you.*▸ ada")
	p.tmux("send-keys", "-t", "ada", "Enter")
	p.sees("ada", "MOVES +0")
	p.tmux("send-keys", "-t", "ada", "Left", "Down", "Right", "Up")
	p.sees("ada", "MOVES +[1-4]")
	p.tmux("send-keys", "-t", "ada", "q")
	p.sane("ada", exitOK)
	id := strings.Fields(regexp.MustCompile(`[a-z2-7]+ +classic +ada`).FindString(first.ok(t, nil, "games")))[0]
	first.stop()

	// A second host for the same server also stands in for a restarted one, since hosts
	// share no state.
	second := startSSH(t, address, args...)
	p.run("again", second.command([]string{ada}, "-t play "+id))
	p.sees("again", "MOVES +[1-4]")
	p.tmux("send-keys", "-t", "again", "q")
	p.sane("again", exitOK)

	// Bob's client offers Ada's public key before its own.
	public := filepath.Join(t.TempDir(), "ada.pub")
	text, err := os.ReadFile(ada + ".pub")
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(public, text, 0o600))
	p.run("bob", second.command([]string{public, bob}, "-t play "+id))
	p.sees("bob", "that is not your game")
	p.run("bob-2", second.command([]string{bob}, "-t play"))
	p.sees("bob-2", "What should others call you")
	p.tmux("send-keys", "-t", "bob-2", "Enter")
	p.sees("bob-2", "That name is taken")
	p.tmux("send-keys", "-t", "bob-2", "b", "o", "b", "Enter")
	p.sees("bob-2", "MOVES +0")
	assert.Contains(t, second.ok(t, nil, "games"), "bob ")
	p.run("offer", second.command([]string{public}, "-t play"))
	p.sees("offer", "(?i)you are a guest")
}

// Ensure that an SSH client shows the same content as the program on the same terminal,
// in the same colors.
func TestTerminal_SSHSame(t *testing.T) {
	t.Parallel()
	p, config := newPanes(t), servertest.Config(t)
	config.Daily = "" // so that the lobby does not offer it to guests
	s, _ := servertest.Start(t, config)
	server := s.Addr().String()
	h := startSSH(t, server)
	ada := newUser(t, server, "ada")
	id := strings.TrimSpace(ada.ok("new"))
	for _, tt := range []struct {
		name, local, ssh, want string
		lines                  int // number of lines that must be equal
	}{
		// Below these lines, the lobby tells a guest how to get an account.
		{"lobby", "", "", "classic +ada", 13},
		{"watch", "watch " + id, "-t watch " + id, "move 0, ", 24},
	} {
		p.open(tt.name+"-here", tt.local+" --server "+server)
		p.run(tt.name+"-ssh", h.command(nil, tt.ssh))
		p.sees(tt.name+"-here", tt.want)
		var here, ssh string
		same := assert.Eventually(t, func() bool {
			here, ssh = p.head(tt.name+"-here", tt.lines), p.head(tt.name+"-ssh", tt.lines)
			return here == ssh
		}, limit, 100*time.Millisecond)
		assert.True(t, same, "%s:\n%s\n%s", tt.name, here, ssh)
	}
}

// head returns the first lines of a pane, followed by their colors in order. It omits the
// colors of cells without text, which depend on how tmux erased them.
func (p *panes) head(pane string, lines int) string {
	p.t.Helper()
	capture := []string{"capture-pane", "-p", "-S", "0", "-E", strconv.Itoa(lines - 1), "-t", pane}
	colors := regexp.MustCompile(`[34]8;2;\d+;\d+;\d+`).FindAllString(p.tmux(append(capture, "-e")...), -1)
	return p.tmux(capture...) + strings.Join(colors, " ")
}
