package store

import (
	"context"
	"errors"
	"time"
)

// Session is a second token of an account.
type Session struct {
	// ID is derived from the session's secret, but does not disclose it.
	ID       string
	PlayerID string
	// Comment is the label that the player gave the session.
	Comment string
	// Opened is when the session was opened, by the store's clock, to the millisecond.
	Opened time.Time
}

var (
	// ErrNoLink means that a link is unknown, used, replaced or expired.
	ErrNoLink = errors.New("there is no such link")
	// ErrTooManySessions means that the account has reached its limit of sessions.
	ErrTooManySessions = errors.New("the account has too many sessions")
)

// Sessions stores the sessions of accounts, and the links that open them. An account has at most one
// link, which opens one session. Both may outlast their account until they expire. A session expires
// if it is not renewed within the duration passed to Open or Renew; if that is 0, it never expires.
type Sessions interface {
	// Offer makes the link with the given digest the account's only one, for the duration valid,
	// and returns the time at which it expires. The error is ErrNoAccount if the account does not
	// exist.
	Offer(ctx context.Context, playerID, link string, valid time.Duration) (expires time.Time, err error)
	// Open opens the session s of the account with the given link, unless the account already has
	// limit sessions, and returns it as stored. It ignores s.PlayerID and s.Opened. Repeating the
	// call changes nothing while the link is valid. It may return ErrNoLink, or
	// ErrTooManySessions, which leaves the link unused.
	Open(ctx context.Context, link string, s Session, limit int, keep time.Duration) (Session, error)
	// Sessions lists the account's sessions, oldest first.
	Sessions(ctx context.Context, playerID string) ([]Session, error)
	// Renew sets the session to expire after the duration keep (above 0), counted from now. It
	// ignores a session that does not exist.
	Renew(ctx context.Context, playerID, id string, keep time.Duration) error
	// End removes a session from an account, and reports whether it existed.
	End(ctx context.Context, playerID, id string) (found bool, err error)
}
