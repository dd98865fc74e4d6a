package compose

import (
	"crypto/ed25519"
	"crypto/rand"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/crypto/ssh"
)

// TestSSH is docker-compose.ssh.yml: a host for SSH clients beside the server. A key is
// an account, and host key and credential outlive the containers.
func TestSSH(t *testing.T) {
	wantsDocker(t)
	t.Parallel()
	s := newStack(t, "docker-compose.ssh.yml")
	with := settings{"GRIDSTAND_BOT_PACE": "100ms"}
	s.up(with, "--build")
	_, private, err := ed25519.GenerateKey(rand.Reader)
	require.NoError(t, err)
	key, err := ssh.NewSignerFromKey(private)
	require.NoError(t, err)

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

// dialSSH connects as the player of a key, when the host is there.
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

// listsGames returns the list of games.
func listsGames(t *testing.T, c *ssh.Client) string {
	t.Helper()
	session, err := c.NewSession()
	require.NoError(t, err)
	out, err := session.Output("games")
	require.NoError(t, err)
	return string(out)
}

// plays starts a game in a terminal, gives the suggested name if it is asked for one,
// and leaves when the list has so many games of that name.
func plays(t *testing.T, c *ssh.Client, games int) {
	t.Helper()
	session, err := c.NewSession()
	require.NoError(t, err)
	in, err := session.StdinPipe()
	require.NoError(t, err)
	session.Stdout = io.Discard
	require.NoError(t, session.RequestPty("xterm", 24, 80, nil))
	require.NoError(t, session.Start("play 3x3"))
	require.Eventually(t, func() bool {
		_, err := in.Write([]byte("\r"))
		return assert.NoError(t, err) && strings.Count(listsGames(t, c), " ada ") == games
	}, patience, time.Second, "no game")
	_, err = in.Write([]byte("\x03"))
	require.NoError(t, err)
	_ = session.Wait()
}
