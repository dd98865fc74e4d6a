// Package sshkeys finds the user's SSH keys, in the agent and in files.
package sshkeys

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/agent"
)

// Key is a key that can sign.
type Key struct {
	ssh.Signer
	// Comment is the user's name for the key; it may contain any characters.
	Comment string
}

// Fingerprint returns the fingerprint of the key, in the format of "ssh-keygen -l".
func (k Key) Fingerprint() string { return ssh.FingerprintSHA256(k.PublicKey()) }

// ErrNone means that no key was found.
var ErrNone = errors.New("no SSH key was found")

// Agent is a connection to an SSH agent.
type Agent struct {
	// Keys contains the agent's keys, without certificates. They are usable until Close.
	Keys []Key
	conn net.Conn
	stop func() bool
}

// OpenAgent connects to the agent at a socket. The connection is closed when ctx is done,
// even while the agent is waiting for the user.
func OpenAgent(ctx context.Context, socket string) (*Agent, error) {
	var dialer net.Dialer
	conn, err := dialer.DialContext(ctx, "unix", socket)
	if err != nil {
		return nil, fmt.Errorf("the SSH agent: %w", err)
	}
	a := &Agent{conn: conn, stop: context.AfterFunc(ctx, func() { _ = conn.Close() })}
	if err := a.read(); err != nil {
		a.Close()
		return nil, fmt.Errorf("the SSH agent: %w", err)
	}
	return a, nil
}

func (a *Agent) read() error {
	signers, err := agent.NewClient(a.conn).Signers()
	for _, signer := range signers {
		public, ok := signer.PublicKey().(*agent.Key)
		if ok && !strings.Contains(public.Type(), "-cert-") { // the agent also has the bare key
			a.Keys = append(a.Keys, Key{signer, public.Comment})
		}
	}
	return err
}

// Close closes the connection.
func (a *Agent) Close() {
	a.stop()
	_ = a.conn.Close()
}

// Find returns the agent's key for a public key, or false if the agent does not have it. It
// may be called on a nil Agent.
func (a *Agent) Find(public ssh.PublicKey) (Key, bool) {
	if a != nil {
		for _, key := range a.Keys {
			if bytes.Equal(key.PublicKey().Marshal(), public.Marshal()) {
				return key, true
			}
		}
	}
	return Key{}, false
}

// defaultFiles are ssh's default key files that this package can read.
var defaultFiles = []string{"id_ed25519", "id_ecdsa", "id_rsa"}

// Default returns the first key that ssh would find in a directory such as ~/.ssh, or
// ErrNone. a may be nil.
func Default(directory string, a *Agent) (Key, error) {
	for _, name := range defaultFiles {
		key, err := Load(filepath.Join(directory, name), a)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		return key, err
	}
	return Key{}, ErrNone
}

// Load returns the key in a file. The file contains a private key, or a public key whose
// private key is in the agent or in the file without ".pub". Load first asks a, which may
// be nil. It does not decrypt private keys: these have to be in the agent.
func Load(file string, a *Agent) (Key, error) {
	private, isPublic := strings.CutSuffix(file, ".pub")
	public, comment, err := readPublic(private + ".pub")
	if err != nil && (isPublic || !errors.Is(err, fs.ErrNotExist)) {
		return Key{}, err
	}
	if public != nil {
		if key, ok := a.Find(public); ok {
			return Key{key, comment}, nil
		}
	}
	text, err := os.ReadFile(private)
	if err != nil {
		return Key{}, err
	}
	signer, err := ssh.ParsePrivateKey(text)
	if err != nil {
		return Key{}, fmt.Errorf("%s cannot be read as an SSH private key (%w); if ssh can use it, load it with ssh-add", private, err)
	}
	return Key{signer, comment}, nil
}

// readPublic returns the key and the comment in a public key file.
func readPublic(file string) (ssh.PublicKey, string, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, "", err
	}
	public, comment, _, _, err := ssh.ParseAuthorizedKey(text)
	if err != nil {
		return nil, "", fmt.Errorf("%s contains no SSH public key", file)
	}
	return public, comment, nil
}
