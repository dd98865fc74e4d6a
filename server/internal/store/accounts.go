package store

import (
	"context"
	"errors"
	"time"
)

// Account is a player's account as stored. Only Name, Secret and Renamed ever change.
type Account struct {
	ID, Name string
	// Secret is the hex-encoded digest of the account's secret.
	Secret string
	Bot    bool
	// Created is when the account was created, by the store's clock, to the millisecond.
	Created time.Time
	// Renamed is when the account got its present name, by the store's clock, to the
	// millisecond, or the zero time if that is its first name.
	Renamed time.Time `json:",omitzero"`
}

// ErrNameHeld means that the name is held by an account that no longer exists, or by an
// account that another call is creating.
var ErrNameHeld = errors.New("the name is taken")

// Accounts stores the players' accounts, by ID and by name. An account expires if it is
// not renewed within the duration passed to Create or Renew; if that is 0, the account
// never expires. An expired account is removed, but its name stays taken.
type Accounts interface {
	// Get returns those of the given accounts that exist, by ID.
	Get(ctx context.Context, ids []string) (map[string]Account, error)
	// Holder returns the ID of the account that holds the given name or one that looks like it
	// (see names.Fold), or "" if the name is free.
	Holder(ctx context.Context, name string) (id string, err error)
	// Create creates an account unless its name is taken, and returns the account that
	// holds the name: either a itself, created now or by an earlier call, or a different
	// account. If that account does not exist, the error is ErrNameHeld. Create neither
	// changes nor renews an existing account, and does not recreate an expired one. It
	// ignores a.Created. If a call fails partway, a retry completes it; without a retry,
	// the name becomes free again after a while.
	Create(ctx context.Context, a Account, keep time.Duration) (holder Account, err error)
	// Rename gives the account another name, which it then holds in addition to its earlier
	// ones, and returns it as stored. It changes nothing if the account is no longer called
	// from, or got its name less than the duration every ago. If the name is held by another
	// account, the error is ErrNameHeld; if the account does not exist, ErrNoAccount. If a call
	// fails partway, the account may hold the name already, and a retry completes it.
	Rename(ctx context.Context, id, from, name string, every time.Duration) (Account, error)
	// SetSecret replaces the digest from of the account's secret. It changes nothing if the digest
	// is another one, or if the account does not exist.
	SetSecret(ctx context.Context, id, from, secret string) error
	// Renew sets the given accounts to expire after the duration keep (above 0), counted from now.
	// It ignores accounts that do not exist.
	Renew(ctx context.Context, keep time.Duration, ids ...string) error
}
