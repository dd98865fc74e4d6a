//go:build slow

package compose

import (
	"io"
	"net"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/crypto/ssh"

	outputtest "github.com/gridstand/gridstand/internal/testkit/output"
	sshtest "github.com/gridstand/gridstand/internal/testkit/ssh"
	waittest "github.com/gridstand/gridstand/internal/testkit/wait"
)

// TestSSH covers docker-compose.ssh.yml: an SSH host next to the server. A key identifies an
// account, which finds its game again, and the host key and the credential outlive the containers.
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
	game := plays(t, first)
	harmless(t, "ssh-host", s.containers("ssh-host")[0], []int{2222}, "/ssh")
	assert.Contains(t, s.compose("run", "--rm", "client", "variants"), "16×11")

	s.compose("rm", "-sf", "ssh-host", "ssh-credential")
	s.up(nil)
	second := dialSSH(t, s, key, ssh.FixedHostKey(hostKey))
	assert.Equal(t, game, plays(t, second))
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

// guestGame matches the game of a guest in the list of games.
var guestGame = regexp.MustCompile(`(?m)^(\w{8}) +3x3 .* guest-[a-z2-7]{6}$`)

// plays starts or continues a game in a terminal, leaves, and returns the game's id, which must be the
// only one in the list.
func plays(t *testing.T, c *ssh.Client) string {
	t.Helper()
	session, err := c.NewSession()
	require.NoError(t, err)
	in, err := session.StdinPipe()
	require.NoError(t, err)
	var screen outputtest.Buffer
	session.Stdout = &screen
	require.NoError(t, session.RequestPty("xterm", 24, 80, nil))
	require.NoError(t, session.Start("play 3x3"))
	waittest.Until(t, "the game is on the screen", func() bool { return strings.Contains(screen.String(), "MOVES") })
	other, err := c.NewSession()
	require.NoError(t, err)
	list, err := other.Output("games")
	require.NoError(t, err)
	games := guestGame.FindAllStringSubmatch(string(list), -1)
	require.Len(t, games, 1)
	_, _ = io.WriteString(in, "\x03")
	_ = session.Wait()
	return games[0][1]
}
