//go:build slow

package compose

import (
	"io"
	"net"
	"regexp"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/crypto/ssh"

	sshtest "github.com/gridstand/gridstand/internal/testkit/ssh"
	waittest "github.com/gridstand/gridstand/internal/testkit/wait"
)

// TestSSH covers docker-compose.ssh.yml: an SSH host next to the server. A key identifies an
// account, and the host key and the credential outlive the containers.
func TestSSH(t *testing.T) {
	t.Parallel()
	s := newStack(t, "docker-compose.ssh.yml")
	s.up(nil, "--build")
	key := sshtest.Key(t)

	var hostKey ssh.PublicKey
	first := dialSSH(t, s, key, func(_ string, _ net.Addr, key ssh.PublicKey) error {
		hostKey = key
		return nil
	})
	plays(t, first, 1)
	harmless(t, "ssh-host", s.containers("ssh-host")[0], []int{2222}, "/ssh")
	assert.Contains(t, s.compose("run", "--rm", "client", "variants"), "16×11")

	s.compose("rm", "-sf", "ssh-host", "ssh-credential")
	s.up(nil)
	second := dialSSH(t, s, key, ssh.FixedHostKey(hostKey))
	plays(t, second, 2)
}

// dialSSH waits for the SSH host and connects as the player who owns the key.
func dialSSH(t *testing.T, s *stack, key ssh.Signer, check ssh.HostKeyCallback) *ssh.Client {
	t.Helper()
	var c *ssh.Client
	var err error
	waittest.Until(t, "there is an SSH host", func() bool {
		c, err = ssh.Dial("tcp", "127.0.0.1:"+s.sshPort, &ssh.ClientConfig{
			User: "ada", Auth: []ssh.AuthMethod{ssh.PublicKeys(key)}, HostKeyCallback: check, Timeout: waittest.Patience,
		})
		return err == nil
	})
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// listsGames returns the output of the client's games command.
func listsGames(t *testing.T, c *ssh.Client) string {
	t.Helper()
	session, err := c.NewSession()
	require.NoError(t, err)
	out, err := session.Output("games")
	require.NoError(t, err)
	return string(out)
}

// guestGame matches the game of a guest in the list of games.
var guestGame = regexp.MustCompile(`(?m) 3x3 .* (guest-[a-z2-7]{6})$`)

// plays starts a game in a terminal, and leaves when the list shows the given number of games, all by
// the same player.
func plays(t *testing.T, c *ssh.Client, games int) {
	t.Helper()
	session, err := c.NewSession()
	require.NoError(t, err)
	in, err := session.StdinPipe()
	require.NoError(t, err)
	require.NoError(t, session.RequestPty("xterm", 24, 80, nil))
	require.NoError(t, session.Start("play 3x3"))
	var players []string
	waittest.Until(t, "the game is listed", func() bool {
		players = nil
		for _, found := range guestGame.FindAllStringSubmatch(listsGames(t, c), -1) {
			players = append(players, found[1])
		}
		return len(players) == games
	})
	assert.Len(t, slices.Compact(players), 1)
	_, _ = io.WriteString(in, "\x03")
	_ = session.Wait()
}
