// Package sshtest plays games over SSH. Only tests import it.
package sshtest

import (
	"crypto/ed25519"
	"crypto/rand"
	"io"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/crypto/ssh"
)

// Key returns a new key.
func Key(t testing.TB) ssh.Signer {
	t.Helper()
	_, private, err := ed25519.GenerateKey(rand.Reader)
	require.NoError(t, err)
	key, err := ssh.NewSignerFromKey(private)
	require.NoError(t, err)
	return key
}

// Play runs a command in an 80 × 24 terminal and discards its output. It returns a function
// that presses keys, and one that presses Ctrl+C and waits for the session to end.
func Play(t testing.TB, c *ssh.Client, command string) (press func(keys string), leave func()) {
	t.Helper()
	session, err := c.NewSession()
	require.NoError(t, err)
	in, err := session.StdinPipe()
	require.NoError(t, err)
	session.Stdout = io.Discard
	require.NoError(t, session.RequestPty("xterm", 24, 80, nil))
	require.NoError(t, session.Start(command))
	press = func(keys string) {
		_, err := io.WriteString(in, keys)
		assert.NoError(t, err)
	}
	return press, func() {
		press("\x03")
		_ = session.Wait()
	}
}
