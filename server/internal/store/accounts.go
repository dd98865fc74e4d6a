package store

import (
	"context"
	"errors"
	"time"
)

// Account is a player's account as stored. Only Secret ever changes.
type Account struct {
	ID, Name string
	// Secret is the hex-encoded digest of the account's secret.
	Secret string
	Bot    bool
	// Created is when the account was created, by the store's clock, to the millisecond.
	Created time.Time
}

// ErrNameHeld means that the name is held by an account that no longer exists, or by an
// account that another call is creating.
var ErrNameHeld = errors.New("the name is held")

// Accounts stores the players' accounts, by ID and by name. An account expires if it is
// not renewed within the duration passed to Create or Renew; if that is 0, the account
// never expires. An expired account is removed, but its name stays taken.
type Accounts interface {
	// Get returns those of the given accounts that exist, by ID.
	Get(ctx context.Context, ids []string) (map[string]Account, error)
	// Holder returns the ID of the account that holds the given name, or "" if the name
	// is free. Names are case-insensitive.
	Holder(ctx context.Context, name string) (id string, err error)
	// Create creates an account unless its name is taken, and returns the account that
	// holds the name: either a itself, created now or by an earlier call, or a different
	// account. If that account does not exist, the error is ErrNameHeld. Create neither
	// changes nor renews an existing account, and does not recreate an expired one. It
	// ignores a.Created. If a call fails partway, a retry completes it; without a retry,
	// the name becomes free again after a while.
	Create(ctx context.Context, a Account, keep time.Duration) (holder Account, err error)
	// SetSecret replaces the digest of the account's secret, and reports whether the
	// account exists.
	SetSecret(ctx context.Context, id, secret string) (found bool, err error)
	// Renew sets the given accounts to expire after the duration keep, counted from now.
	// It ignores accounts that do not exist.
	Renew(ctx context.Context, keep time.Duration, ids ...string) error
	// RenewLasting is like Renew, but applies to every account that has no expiry.
	RenewLasting(ctx context.Context, keep time.Duration) error

	// Reserve adds a game to the player's open games, unless the player already has limit
	// other open games (0 means no limit), and reports whether the game is now one of them.
	// Reserving a game again does not count it twice or change its age. If keep is not 0,
	// an engine removes the player's open games once there has been no reservation for the
	// duration keep, or else removes each game individually after the duration keep.
	Reserve(ctx context.Context, playerID, gameID string, limit int, keep time.Duration) (bool, error)
	// Release removes the given games from the player's open games.
	Release(ctx context.Context, playerID string, gameIDs ...string) error
	// Open lists the player's open games, oldest first.
	Open(ctx context.Context, playerID string) ([]OpenGame, error)
}

// OpenGame is one of a player's open games.
type OpenGame struct {
	ID string
	// Age is the time since the game was reserved, by the store's clock.
	Age time.Duration
}

// Secrets stores the secrets that all servers using the store share.
type Secrets interface {
	// Secret returns the secret with the given name. If the store has no such
	// secret, it stores and returns proposed. Secrets never expire.
	Secret(ctx context.Context, name string, proposed []byte) ([]byte, error)
}

// Quotas limits how often each key may do something, across all servers.
type Quotas interface {
	// Take counts one use of a quota: what is the quota's name, and key is the player or
	// address that it applies to. Each key gets perMinute uses per minute (at least one),
	// and may take all of them in one burst. If the use would exceed the quota, Take counts
	// nothing and returns the time to wait; otherwise it returns 0.
	Take(ctx context.Context, what, key string, perMinute int) (wait time.Duration, err error)
}

// Exhibitions tracks the running games with only bots, across all servers. A game pauses
// at the end of its run unless the run is extended, so a dead server's games soon stop
// counting toward the limits.
type Exhibitions interface {
	// Left returns the time that a game has left to run, or 0 if it is paused.
	Left(ctx context.Context, gameID string) (time.Duration, error)
	// Run lets the game run for the duration d from now, unless it is paused and one of
	// the limits has been reached.
	Run(ctx context.Context, e Exhibition, d time.Duration, limits ExhibitionLimits) (ExhibitionRun, error)
	// End removes the game from the running games.
	End(ctx context.Context, gameID string) error
}

// Exhibition describes a game in which bots hold all seats.
type Exhibition struct {
	// PlayerID identifies the player who created the game. Address is the address of the
	// caller that first ran it.
	GameID, PlayerID, Address string
}

// ExhibitionLimits limits how many games with only bots may run; 0 means no limit.
type ExhibitionLimits struct{ PerPlayer, PerAddress, PerStore int }

// ExhibitionRun is the result of Exhibitions.Run.
type ExhibitionRun struct {
	// Resumed reports whether this call started a new game or resumed a paused one.
	Resumed bool
	// Full is the limit that keeps the game paused, or NoLimit if the game is running.
	Full ExhibitionLimit
	// Retry is how long to wait before trying again, if Full is set.
	Retry time.Duration
}

// ExhibitionLimit identifies a field of ExhibitionLimits.
type ExhibitionLimit int

// The limits, in the order in which they are checked.
const (
	NoLimit ExhibitionLimit = iota
	PlayerLimit
	AddressLimit
	StoreLimit
)
