package web

import (
	"bufio"
	"context"
	"crypto/ed25519"
	"crypto/rand"
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
	"github.com/gridstand/gridstand/internal/testkit/process"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
	"github.com/gridstand/gridstand/server"
)

// follow opens the game that a player has created, or creates now, on the page and watches
// how the player plays it by keys.
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
func TestWatch_Terminal(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("tmux"); err != nil {
		t.Skip("tmux is not installed")
	}
	s := start(t)
	tab := browsertest.Open(t, s.address)
	program := process.Build(t, "cmd/gridstand")
	dir := t.TempDir()
	conf, socket := filepath.Join(dir, "conf"), filepath.Join(dir, "tmux")
	require.NoError(t, os.WriteFile(conf, []byte("set -g status off\n"), 0o600))
	tmux := func(args ...string) {
		cmd := exec.CommandContext(t.Context(), "tmux", append([]string{"-S", socket, "-f", conf}, args...)...)
		cmd.Env = append(os.Environ(), "TMUX=", "LC_ALL=C.UTF-8")
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "%v: %s", args, out)
	}
	tmux("new-session", "-d", "-x", "80", "-y", "24", fmt.Sprintf(
		"unset TMUX GRIDSTAND_SERVER; export TERM=xterm-256color XDG_CONFIG_HOME=%[1]s XDG_STATE_HOME=%[1]s; exec %[2]s play --name ada --server %[3]s",
		dir, program, s.address))
	t.Cleanup(func() { _ = exec.Command("tmux", "-S", socket, "kill-server").Run() })
	s.follow(tab, "ada", func(keys string) { tmux("send-keys", "-l", keys) })
}

// Ensure the same for a game that is played by SSH.
func TestWatch_SSH(t *testing.T) {
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
	_, private, err := ed25519.GenerateKey(rand.Reader)
	require.NoError(t, err)
	key, err := ssh.NewSignerFromKey(private)
	require.NoError(t, err)
	client, err := ssh.Dial("tcp", host, &ssh.ClientConfig{
		User: "ada", Auth: []ssh.AuthMethod{ssh.PublicKeys(key)}, HostKeyCallback: ssh.InsecureIgnoreHostKey(), Timeout: browsertest.Patience,
	})
	require.NoError(t, err)
	t.Cleanup(func() { _ = client.Close() })
	session, err := client.NewSession()
	require.NoError(t, err)
	in, err := session.StdinPipe()
	require.NoError(t, err)
	session.Stdout = io.Discard
	require.NoError(t, session.RequestPty("xterm", 24, 80, nil))
	require.NoError(t, session.Start("play"))
	press := func(keys string) {
		_, err := io.WriteString(in, keys)
		require.NoError(t, err)
	}
	press("\r") // takes the name that the host suggests
	s.follow(tab, "ada", press)
}

// sshHost starts a host for SSH clients that ends with the test, and returns its address.
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
	require.Fail(t, "the host does not start", strings.Join(lines, "\n"))
	return ""
}
