package store

import (
	"context"
	"errors"
	"time"
)

// Account is a player as it is stored. All but Secret never change.
type Account struct {
	ID, Name string
	// Secret is the digest of the account's secret, in hexadecimal.
	Secret string
	Bot    bool
	// Created is when it was created, by the store's clock, to the millisecond.
	Created time.Time
}

// ErrNameHeld means that a name is held by an account that no longer exists, or that
// another call is creating.
var ErrNameHeld = errors.New("the name is held")

// Accounts are the players, by id and by name. An account expires when it was not
// renewed for the time that Create and Renew are given, 0 for never: then it is
// removed, but its name stays taken.
type Accounts interface {
	// Get returns those of the accounts that exist, by id.
	Get(ctx context.Context, ids []string) (map[string]Account, error)
	// Holder returns the id that holds a name, "" for none. Names are equal in any
	// case of their letters.
	Holder(ctx context.Context, name string) (id string, err error)
	// Create creates an account unless its name is taken, and returns the account that
	// holds the name: this one, created now or by an earlier call, or another one. It
	// is ErrNameHeld if that account does not exist. An account that exists is not
	// changed or renewed, and one that expired is not created again. Created of a is
	// not used. A call that fails halfway does no harm: repeating it finishes it, and
	// without that the name is free again after a while.
	Create(ctx context.Context, a Account, keep time.Duration) (holder Account, err error)
	// SetSecret replaces the digest of an account's secret, and reports whether the
	// account exists.
	SetSecret(ctx context.Context, id, secret string) (found bool, err error)
	// Renew has accounts expire after the given time from now. Those that do not
	// exist are ignored.
	Renew(ctx context.Context, keep time.Duration, ids ...string) error
	// RenewLasting is Renew for all accounts that never expire.
	RenewLasting(ctx context.Context, keep time.Duration) error

	// Reserve counts a game among a player's open ones, and reports whether it counts
	// now: it does not if limit others do, 0 for any number. A game counts once,
	// since it was reserved first. What a player has open is forgotten after keep
	// without another one, 0 for never; an engine may forget each game after keep.
	Reserve(ctx context.Context, playerID, gameID string, limit int, keep time.Duration) (bool, error)
	// Release takes games off a player's open ones.
	Release(ctx context.Context, playerID string, gameIDs ...string) error
	// Open lists a player's open games, the oldest first.
	Open(ctx context.Context, playerID string) ([]OpenGame, error)
}

// OpenGame is a game that counts as open for a player.
type OpenGame struct {
	ID string
	// Age is the time since it was reserved, by the store's clock.
	Age time.Duration
}

// Secrets are what all servers on a store have to agree on.
type Secrets interface {
	// Secret returns the secret of a name. If it has none, it stores the proposed
	// one and returns that. Secrets never expire.
	Secret(ctx context.Context, name string, proposed []byte) ([]byte, error)
}

// Quotas bound how often each of many keys does something on all servers.
type Quotas interface {
	// Take counts one time of what for a key, which may do it perMinute times in a
	// minute, at least one, and as many at once. If that exceeds the quota, it counts nothing and
	// returns how long to wait; otherwise it returns 0.
	Take(ctx context.Context, what, key string, perMinute int) (wait time.Duration, err error)
}

// Exhibitions are the games between bots alone that run, on all servers. A game that
// is not let run again is paused, so that a server that dies leaves no count behind.
type Exhibitions interface {
	// Left returns how long a game still runs, 0 if it is paused.
	Left(ctx context.Context, gameID string) (time.Duration, error)
	// Run lets a game run for a time from now on, unless it is paused and one of the
	// limits is reached.
	Run(ctx context.Context, e Exhibition, d time.Duration, limits ExhibitionLimits) (ExhibitionRun, error)
	// End forgets a game.
	End(ctx context.Context, gameID string) error
}

// Exhibition is a game between bots alone.
type Exhibition struct {
	// PlayerID created the game, and Address let it run first.
	GameID, PlayerID, Address string
}

// ExhibitionLimits are how many games between bots alone may run; 0 for any number.
type ExhibitionLimits struct{ PerPlayer, PerAddress, PerStore int }

// ExhibitionRun is the result of Exhibitions.Run.
type ExhibitionRun struct {
	// Resumed reports that the game was paused, or new.
	Resumed bool
	// Full is the limit that keeps it paused.
	Full ExhibitionLimit
	// Retry is after which time another try may succeed, if Full is set.
	Retry time.Duration
}

// ExhibitionLimit names one of ExhibitionLimits.
type ExhibitionLimit int

// The limits, in the order in which they are checked.
const (
	NoLimit ExhibitionLimit = iota
	PlayerLimit
	AddressLimit
	StoreLimit
)
