package store

import (
	"context"
	"errors"
	"time"
)

// Key is an SSH key that is linked to an account.
type Key struct {
	// Fingerprint identifies the key; it is derived from the public key.
	Fingerprint string
	PlayerID    string
	// Comment is the label that the player gave the key.
	Comment string
	// Added is when the key was linked, by the store's clock, to the millisecond.
	Added time.Time
}

var (
	// ErrKeyHeld means that the key is linked to another account, or that another call is
	// using it to create an account.
	ErrKeyHeld = errors.New("the key is linked to another account")
	// ErrTooManyKeys means that the account has reached its limit of keys.
	ErrTooManyKeys = errors.New("too many keys")
	// ErrNoAccount means that the account that a key should be linked to does not exist.
	ErrNoAccount = errors.New("no such player")
)

// Keys stores the SSH keys that are linked to accounts. A key is linked to at most one
// account. Keys are removed with their account, and keys of an account that does not
// exist are ignored.
type Keys interface {
	// Owner returns the account that the key is linked to, or false if it is not linked
	// to any.
	Owner(ctx context.Context, fingerprint string) (Account, bool, error)
	// Create is like Accounts.Create, and also links a key to the account. By the time
	// Create returns, the key is linked, unless the name belongs to another account or
	// the secret has been replaced since an earlier call. If the key is held for another
	// account, the error is ErrKeyHeld and nothing is created. If a call fails partway, a
	// retry completes it; without a retry, the key becomes free again after a while.
	Create(ctx context.Context, a Account, keep time.Duration, fingerprint string) (holder Account, err error)
	// Link links k to its account, unless the account already has limit other keys (0
	// means no limit), and returns the key as stored. It ignores k.Added. If the key is
	// already linked to the account, Link changes nothing. It may return ErrKeyHeld,
	// ErrTooManyKeys or ErrNoAccount.
	Link(ctx context.Context, k Key, limit int) (Key, error)
	// Unlink removes a key from an account, and reports whether it was linked to that
	// account.
	Unlink(ctx context.Context, playerID, fingerprint string) (found bool, err error)
	// Keys lists the account's keys, oldest first.
	Keys(ctx context.Context, playerID string) ([]Key, error)
}

// Credential is a service credential of an SSH host.
type Credential struct {
	// Name is the credential's name, chosen by the operator.
	Name string
	// Digest is the hex-encoded digest of the credential.
	Digest string
	// Created is when the credential was added, by the store's clock, to the millisecond.
	Created time.Time
}

// Credentials stores the service credentials of SSH hosts, by name. There are few of
// them, and they never expire.
type Credentials interface {
	// Add adds c. If a credential with the same name exists, Add changes nothing and
	// reports false. It ignores c.Created.
	Add(ctx context.Context, c Credential) (added bool, err error)
	// All lists the credentials, ordered by name.
	All(ctx context.Context) ([]Credential, error)
	// Remove removes the named credential, and reports whether it existed.
	Remove(ctx context.Context, name string) (found bool, err error)
}
