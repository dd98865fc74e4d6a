package compose

import (
	"net"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/crypto/ssh"

	sshtest "github.com/gridstand/gridstand/internal/testkit/ssh"
)

// TestSSH covers docker-compose.ssh.yml: an SSH host next to the server. A key identifies an
// account, and the host key and the credential outlive the containers. The test runs alone: while
// containers of other tests start and stop, Chromium aborts the requests of its pages
// (ERR_NETWORK_CHANGED).
func TestSSH(t *testing.T) {
	wantsDocker(t)
	s := newStack(t, "docker-compose.ssh.yml")
	with := settings{"GRIDSTAND_BOT_PACE": "100ms"}
	s.up(with, "--build")
	key := sshtest.Key(t)

	var hostKey ssh.PublicKey
	first := dialSSH(t, s, key, func(_ string, _ net.Addr, key ssh.PublicKey) error {
		hostKey = key
		return nil
	})
	plays(t, first, 1)
	t.Run("browser", func(t *testing.T) { watchesSSH(t, s, first) })
	harmless(t, "ssh-host", s.containers("ssh-host")[0], []int{2222}, "/ssh")
	bounded(t, "ssh-host", s.containers("ssh-host")[0])
	bounded(t, "ssh-credential", s.containers("ssh-credential")[0])

	s.compose("rm", "-sf", "ssh-host", "ssh-credential")
	s.up(with)
	second := dialSSH(t, s, key, ssh.FixedHostKey(hostKey))
	plays(t, second, 2)
}

// dialSSH waits for the SSH host and connects as the player who owns the key.
func dialSSH(t *testing.T, s *stack, key ssh.Signer, check ssh.HostKeyCallback) *ssh.Client {
	t.Helper()
	var c *ssh.Client
	var err error
	require.Eventually(t, func() bool {
		c, err = ssh.Dial("tcp", "127.0.0.1:"+s.sshPort, &ssh.ClientConfig{
			User: "ada", Auth: []ssh.AuthMethod{ssh.PublicKeys(key)}, HostKeyCallback: check, Timeout: 10 * time.Second,
		})
		return err == nil
	}, patience, time.Second, "no SSH host")
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

// plays starts a game in a terminal, accepts the suggested name if it is asked for one, and leaves
// when the list shows the given number of games by that player.
func plays(t *testing.T, c *ssh.Client, games int) {
	t.Helper()
	press, leave := sshtest.Play(t, c, "play 3x3")
	require.Eventually(t, func() bool {
		press("\r")
		return strings.Count(listsGames(t, c), " ada ") == games
	}, patience, time.Second, "no game")
	leave()
}
