package web

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/crypto/ssh"

	browsertest "github.com/gridstand/gridstand/internal/testkit/browser"
	"github.com/gridstand/gridstand/internal/testkit/longtest"
	"github.com/gridstand/gridstand/internal/testkit/process"
	sshtest "github.com/gridstand/gridstand/internal/testkit/ssh"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
	"github.com/gridstand/gridstand/server"
)

// follow waits for a player's game, opens it on the page, and watches while the player plays it
// from the keyboard.
func (s *testServer) follow(tab *browsertest.Tab, player string, press func(keys string)) {
	s.t.Helper()
	var listed *pb.ListGamesResponse
	require.Eventually(s.t, func() bool {
		var err error
		listed, err = s.games.ListGames(s.t.Context(), &pb.ListGamesRequest{PlayerName: player})
		return err == nil && len(listed.GetGames()) == 1
	}, browsertest.Patience, 50*time.Millisecond, "%s has no game", player)
	id := listed.GetGames()[0].GetId()
	tab.Visit("/g/" + id)
	tab.Follow(func() *pb.Game { return s.game(id) }, press, 6)
}

// Ensure that the page shows each move of a game that is played in a terminal, and verifies
// the game at its end.
func TestWatch_Terminal_long(t *testing.T) {
	longtest.Skip(t)
	t.Parallel()
	s := start(t)
	tab := browsertest.Open(t, s.address)
	panes := newTerminals(t, s.address)
	panes.open("ada", "play --name ada")
	s.follow(tab, "ada", func(keys string) { panes.tmux("send-keys", "-t", "ada", "-l", keys) })
}

// terminals manages named tmux sessions for different users.
type terminals struct {
	t                             *testing.T
	program, server, conf, socket string
}

// newTerminals prepares terminals that connect the program to a server. They are closed when the
// test ends. The test is skipped if tmux is not installed.
func newTerminals(t *testing.T, server string) *terminals {
	t.Helper()
	if _, err := exec.LookPath("tmux"); err != nil {
		t.Skip("tmux is not installed")
	}
	dir := t.TempDir()
	p := &terminals{t: t, program: process.Build(t, "cmd/gridstand"), server: server, conf: filepath.Join(dir, "conf"), socket: filepath.Join(dir, "tmux")}
	require.NoError(t, os.WriteFile(p.conf, []byte("set -g status off\n"), 0o600))
	t.Cleanup(func() { _ = exec.Command("tmux", "-S", p.socket, "kill-server").Run() })
	return p
}

// tmux runs a tmux command and returns its output.
func (p *terminals) tmux(args ...string) string {
	p.t.Helper()
	cmd := exec.CommandContext(p.t.Context(), "tmux", append([]string{"-S", p.socket, "-f", p.conf}, args...)...)
	cmd.Env = append(os.Environ(), "TMUX=", "LC_ALL=C.UTF-8")
	out, err := cmd.CombinedOutput()
	require.NoError(p.t, err, "%v: %s", args, out)
	return string(out)
}

// open runs the program in a new terminal. Each terminal has its own configuration.
func (p *terminals) open(name, command string) {
	p.t.Helper()
	p.tmux("new-session", "-d", "-s", name, "-x", "100", "-y", "32", fmt.Sprintf(
		"unset TMUX GRIDSTAND_SERVER; export TERM=xterm-256color XDG_CONFIG_HOME=%[1]s XDG_STATE_HOME=%[1]s; exec %[2]s %[3]s --server %[4]s",
		p.t.TempDir(), p.program, command, p.server))
}

// Ensure that the page also follows a game that is played over SSH.
func TestWatch_SSH_long(t *testing.T) {
	longtest.Skip(t)
	t.Parallel()
	var config server.Config
	s := start(t, func(c *server.Config) {
		c.Store, c.Proxies = server.File(filepath.Join(t.TempDir(), "games.sqlite")), "127.0.0.1"
		config = *c
	})
	tab := browsertest.Open(t, s.address)
	operator, err := server.Operate(t.Context(), config)
	require.NoError(t, err)
	made, err := operator.CreateCredential(t.Context(), "host")
	operator.Close()
	require.NoError(t, err)
	host := sshHost(t, s.address, made)
	client, err := ssh.Dial("tcp", host, &ssh.ClientConfig{
		User: "ada", Auth: []ssh.AuthMethod{ssh.PublicKeys(sshtest.Key(t))}, HostKeyCallback: ssh.InsecureIgnoreHostKey(), Timeout: browsertest.Patience,
	})
	require.NoError(t, err)
	t.Cleanup(func() { _ = client.Close() })
	press, _ := sshtest.Play(t, client, "play")
	press("\r") // accepts the name that the host suggests
	s.follow(tab, "ada", press)
}

// sshHost starts an SSH host, which is stopped when the test ends, and returns its address.
func sshHost(t *testing.T, address, credential string) string {
	t.Helper()
	program, dir := process.Build(t, "cmd/gridstand"), t.TempDir()
	file := filepath.Join(dir, "credential")
	require.NoError(t, os.WriteFile(file, []byte(credential+"\n"), 0o600))
	cmd := exec.CommandContext(context.WithoutCancel(t.Context()), program, "ssh-host", "--listen", "127.0.0.1:0", "--server", address,
		"--host-key", filepath.Join(dir, "host_key"), "--credential-file", file)
	log, err := cmd.StderrPipe()
	require.NoError(t, err)
	host, err := process.Start(cmd)
	require.NoError(t, err)
	t.Cleanup(host.Kill)
	var lines []string
	for scanner := bufio.NewScanner(log); scanner.Scan(); {
		lines = append(lines, scanner.Text())
		if found := regexp.MustCompile(`msg=serving address=(\S+)`).FindStringSubmatch(scanner.Text()); found != nil {
			go func() { _, _ = io.Copy(io.Discard, log) }()
			return found[1]
		}
	}
	require.Fail(t, "the host did not start", strings.Join(lines, "\n"))
	return ""
}
