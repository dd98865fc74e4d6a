package client

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"github.com/adrg/xdg"
)

// Credential is an account on one server.
type Credential struct {
	// PlayerID is the id of the account.
	PlayerID string `json:"player_id,omitempty"`
	// Name is the name of the account.
	Name string `json:"name"`
	// Token is the current token of the account.
	Token string `json:"token,omitempty"`
	// TLS is set if the token or the Pending secret was used over TLS. It is then never
	// sent in clear text: see ErrClearText.
	TLS bool `json:"tls,omitempty"`
	// Bot is set if the account belongs to a program.
	Bot bool `json:"bot,omitempty"`
	// Durable is set if the server keeps accounts across restarts.
	Durable bool `json:"durable,omitempty"`
	// Pending is a secret that was sent to the server but has not been confirmed yet. If
	// Token is empty, Pending is the secret of a new account; otherwise it is the
	// account's next secret.
	Pending string `json:"pending,omitempty"`
	// Previous is an account on another server with a durable store that previously had
	// the same target. It may have a Previous of its own.
	Previous *Credential `json:"kept,omitempty"`
}

// Store keeps one credential per server in a file that only its owner can read. Its
// methods are safe for concurrent use. Several processes may use one file: each replaces
// the entire file, and the last write wins.
type Store struct {
	path string
	// advice is appended to the error if the file cannot be read or written.
	advice string
	mu     sync.Mutex // held while the file is read or replaced
}

// content is the JSON content of the file.
type content struct {
	Servers map[string]Credential `json:"servers"`
}

// DefaultStore returns the store in the user's config directory:
// $XDG_CONFIG_HOME/gridstand/credentials.json or its equivalent on this system. If the
// environment defines no home directory, the store is empty and saving to it is an error.
func DefaultStore() *Store {
	if _, err := os.UserHomeDir(); err != nil && os.Getenv("XDG_CONFIG_HOME") == "" {
		return NewStore("")
	}
	store := NewStore(filepath.Join(xdg.ConfigHome, "gridstand", "credentials.json"))
	store.advice = "; XDG_CONFIG_HOME selects another directory"
	return store
}

// NewStore returns a store that uses the given file, which need not exist.
func NewStore(path string) *Store { return &Store{path: path} }

// Path returns the path of the file.
func (s *Store) Path() string { return s.path }

// Load returns the credential for a target in its NormalTarget form, and false if the
// store has no credential for it.
func (s *Store) Load(target string) (Credential, bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	all, err := s.read()
	if err != nil {
		return Credential{}, false, err
	}
	c, ok := all.Servers[target]
	return c, ok, nil
}

// Save stores the credential for a target, replacing the previous one.
func (s *Store) Save(target string, c Credential) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	all, err := s.read()
	if err != nil {
		return err
	}
	all.Servers[target] = c
	if err := s.write(all); err != nil {
		return fmt.Errorf("credentials: %w%s", err, s.advice)
	}
	return nil
}

// read returns an error for a file that it cannot parse, so that Save does not overwrite
// accounts that cannot be recovered.
func (s *Store) read() (content, error) {
	all := content{Servers: map[string]Credential{}}
	data, err := os.ReadFile(s.path)
	if errors.Is(err, fs.ErrNotExist) {
		return all, nil
	}
	if err != nil {
		return content{}, fmt.Errorf("credentials: %w%s", err, s.advice)
	}
	if err := json.Unmarshal(data, &all); err != nil {
		return content{}, fmt.Errorf("credentials: %s is damaged, repair it or move it away: %w", s.path, err)
	}
	if all.Servers == nil {
		all.Servers = map[string]Credential{}
	}
	return all, nil
}

// errNoHome is the error for saving to a DefaultStore without a directory.
var errNoHome = errors.New("there is no directory for them: set HOME or XDG_CONFIG_HOME")

// write replaces the file atomically: readers see either the old or the new content, even
// after a crash. os.CreateTemp creates the file with mode 0600.
func (s *Store) write(all content) error {
	data, err := json.MarshalIndent(all, "", "  ")
	if err != nil {
		return err
	}
	if s.path == "" {
		return errNoHome
	}
	dir := filepath.Dir(s.path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	file, err := os.CreateTemp(dir, "."+filepath.Base(s.path)+".*")
	if err != nil {
		return err
	}
	_, err = file.Write(append(data, '\n'))
	err = cmp.Or(err, file.Sync(), file.Close())
	if err == nil {
		err = os.Rename(file.Name(), s.path)
	}
	if err != nil {
		_ = os.Remove(file.Name())
	}
	return err
}
