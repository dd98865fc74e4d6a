// Package sshkeys finds the user's SSH keys: in the agent, and in files.
package sshkeys

import (
	"bytes"
	"context"
	"crypto/x509"
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
	// Comment is what the user calls it; it may have any characters.
	Comment string
}

// Fingerprint names the key, as "ssh-keygen -l" does.
func (k Key) Fingerprint() string { return ssh.FingerprintSHA256(k.PublicKey()) }

// ErrNone means that there is no key.
var ErrNone = errors.New("no SSH key was found")

// Agent is a connection to an SSH agent.
type Agent struct {
	// Keys that it has, without certificates. They are usable until Close.
	Keys []Key
	conn net.Conn
	stop func() bool
}

// OpenAgent connects to the agent at a socket. It ends with ctx, also while the agent
// waits for the user.
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
	c := agent.NewClient(a.conn)
	listed, err := c.List()
	if err != nil {
		return err
	}
	comments := map[string]string{}
	for _, key := range listed {
		comments[string(key.Marshal())] = key.Comment
	}
	signers, err := c.Signers()
	if err != nil {
		return err
	}
	for _, signer := range signers {
		public := signer.PublicKey()
		if strings.Contains(public.Type(), "-cert-") {
			continue // The key itself is there as well.
		}
		a.Keys = append(a.Keys, Key{signer, comments[string(public.Marshal())]})
	}
	return nil
}

// Close ends the connection.
func (a *Agent) Close() {
	a.stop()
	_ = a.conn.Close()
}

// Find returns the agent's key with the public key, false for none. It may be called on
// a nil Agent.
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

// defaultFiles are the files that ssh looks for and that this package can read.
var defaultFiles = []string{"id_ed25519", "id_ecdsa", "id_rsa"}

// Default returns the key that ssh finds first in a directory, which is ~/.ssh, or
// ErrNone. For the rest see Load.
func Default(directory string, a *Agent, passphrase func(file string) ([]byte, error)) (Key, error) {
	for _, name := range defaultFiles {
		key, err := Load(filepath.Join(directory, name), a, passphrase)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		return key, err
	}
	return Key{}, ErrNone
}

// Load returns the key of a file, which has the private key, or the public one of a
// private key that the agent or the file without ".pub" has. The agent, which may be nil,
// is asked first; passphrase is called if the file is encrypted.
func Load(file string, a *Agent, passphrase func(file string) ([]byte, error)) (Key, error) {
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
	signer, err := readPrivate(private, passphrase)
	if err != nil {
		return Key{}, err
	}
	return Key{signer, comment}, nil
}

// ReadPublic returns the key of a file with a public key.
func ReadPublic(file string) (ssh.PublicKey, error) {
	public, _, err := readPublic(file)
	return public, err
}

func readPublic(file string) (ssh.PublicKey, string, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, "", err
	}
	public, comment, _, _, err := ssh.ParseAuthorizedKey(text)
	if err != nil {
		return nil, "", fmt.Errorf("%s has no SSH public key", file)
	}
	return public, comment, nil
}

func readPrivate(file string, passphrase func(file string) ([]byte, error)) (ssh.Signer, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	signer, err := ssh.ParsePrivateKey(text)
	var encrypted *ssh.PassphraseMissingError
	if !errors.As(err, &encrypted) {
		return signer, unreadable(file, err)
	}
	secret, err := passphrase(file)
	if err != nil {
		return nil, err
	}
	signer, err = ssh.ParsePrivateKeyWithPassphrase(text, secret)
	if errors.Is(err, x509.IncorrectPasswordError) {
		return nil, fmt.Errorf("this is not the passphrase of %s", file)
	}
	return signer, unreadable(file, err)
}

// unreadable explains the error of a private key; nil stays nil.
func unreadable(file string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s cannot be read as an SSH private key (%w); if ssh can use it, load it with ssh-add, "+
		"and name the file with .pub at its end", file, err)
}
