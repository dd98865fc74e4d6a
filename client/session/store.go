package session

import "errors"

// Credential is an account on one server.
type Credential struct {
	// PlayerID of the account.
	PlayerID string `json:"player_id,omitempty"`
	// Name of the account.
	Name string `json:"name"`
	// Token that acts for it.
	Token string `json:"token,omitempty"`
	// Bot says that a program plays under it.
	Bot bool `json:"bot,omitempty"`
	// Pending is a secret that the server was asked to accept and did not yet
	// confirm: of a new account when there is no Token, else a new one for it.
	Pending string `json:"pending,omitempty"`
}

// Store keeps one credential per server in a file that only its owner can
// read. Methods are safe for concurrent use, also by several processes: each
// replaces the file as a whole, the last one wins.
type Store struct{ path string }

// DefaultStore is the store in the user's config directory:
// $XDG_CONFIG_HOME/gridstand/credentials.json or what stands for it on this
// system.
func DefaultStore() *Store { return &Store{} }

// NewStore is a store in the given file, which need not exist.
func NewStore(path string) *Store { return &Store{path: path} }

// Path of the file, to show it.
func (s *Store) Path() string { return s.path }

// Load returns the credential for a target (see NormalTarget), false when there
// is none.
func (s *Store) Load(target string) (Credential, bool, error) {
	return Credential{}, false, errors.ErrUnsupported
}

// Save keeps the credential for a target in place of the one before.
func (s *Store) Save(target string, c Credential) error { return errors.ErrUnsupported }

// Delete forgets the credential for a target; it is no error when there is none.
func (s *Store) Delete(target string) error { return errors.ErrUnsupported }
