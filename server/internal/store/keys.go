package store

import (
	"context"
	"errors"
	"time"
)

// Key is an SSH key that is linked to an account.
type Key struct {
	// Fingerprint names the key: it is derived from the public key.
	Fingerprint string
	PlayerID    string
	// Comment is what its owner calls it.
	Comment string
	// Added is when it was linked, by the store's clock, to the millisecond.
	Added time.Time
}

var (
	// ErrKeyHeld means that a key is linked to another account, or that another call is
	// creating an account with it.
	ErrKeyHeld = errors.New("the key is held")
	// ErrTooManyKeys means that an account has as many keys as it may have.
	ErrTooManyKeys = errors.New("the account has too many keys")
	// ErrNoAccount means that the account to link a key to does not exist.
	ErrNoAccount = errors.New("there is no such account")
)

// Keys are the SSH keys that are linked to accounts, each to one at most. They are
// removed with their account, and do not count while it does not exist.
type Keys interface {
	// Owner returns the account that a key is linked to, false for none.
	Owner(ctx context.Context, fingerprint string) (Account, bool, error)
	// Create is Accounts.Create for an account with a key. Unless the name belongs to
	// another account, or the secret was replaced since an earlier call, the key is
	// linked to the account when it returns. It is ErrKeyHeld, and creates nothing, if
	// the key is held for another account. A call that fails halfway does no harm:
	// repeating it finishes it, and without that the key is free again after a while.
	Create(ctx context.Context, a Account, keep time.Duration, fingerprint string) (holder Account, err error)
	// Link links a key to an account, unless the account has limit others, 0 for any
	// number, and returns it as it is stored. Added of k is not used. A key that is linked to the account
	// already is not changed. The errors are ErrKeyHeld, ErrTooManyKeys and
	// ErrNoAccount.
	Link(ctx context.Context, k Key, limit int) (Key, error)
	// Unlink removes a key from an account, and reports whether it was linked to it.
	Unlink(ctx context.Context, playerID, fingerprint string) (found bool, err error)
	// Keys lists the keys of an account, the oldest first.
	Keys(ctx context.Context, playerID string) ([]Key, error)
}

// Credential is a service credential of an SSH host.
type Credential struct {
	// Name is what the operator calls it.
	Name string
	// Digest of the credential, in hexadecimal.
	Digest string
	// Created is when it was added, by the store's clock, to the millisecond.
	Created time.Time
}

// Credentials are the service credentials of SSH hosts, by name. There are few. They
// never expire.
type Credentials interface {
	// Add adds a credential, and reports false, and does nothing, if there is one of its
	// name. Created of c is not used.
	Add(ctx context.Context, c Credential) (added bool, err error)
	// All lists the credentials by name.
	All(ctx context.Context) ([]Credential, error)
	// Remove removes a credential, and reports whether there was one.
	Remove(ctx context.Context, name string) (found bool, err error)
}
