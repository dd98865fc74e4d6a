package sshhost

import (
	"crypto/ed25519"
	"crypto/rand"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	gossh "golang.org/x/crypto/ssh"
)

// HostKey reads the host's key from a file. If the file does not exist, HostKey creates a
// key that only the user can read. Clients remember the key and warn if it changes.
func HostKey(file string) (gossh.AlgorithmSigner, error) {
	text, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		text, err = createHostKey(file)
	}
	if err != nil {
		return nil, fmt.Errorf("host key: %w", err)
	}
	signer, err := gossh.ParsePrivateKey(text)
	if err != nil {
		return nil, fmt.Errorf("host key %s: %w", file, err)
	}
	return signer.(gossh.AlgorithmSigner), nil // as all signers of that package are
}

// createHostKey writes a new key, unless another process has just written one, and returns
// the file's contents.
func createHostKey(file string) ([]byte, error) {
	_, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return nil, err
	}
	block, err := gossh.MarshalPrivateKey(key, "gridstand ssh-host")
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return nil, err
	}
	// To write the key atomically, write it to a temporary file first. os.CreateTemp makes
	// the file readable only by the user.
	temporary, err := os.CreateTemp(filepath.Dir(file), ".host-key-*")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.Remove(temporary.Name()) }()
	_, err = temporary.Write(pem.EncodeToMemory(block))
	err = errors.Join(err, temporary.Sync(), temporary.Close())
	if err == nil {
		err = os.Link(temporary.Name(), file)
	}
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, err
	}
	return os.ReadFile(file)
}
