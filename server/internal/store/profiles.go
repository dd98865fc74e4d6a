package store

import (
	"context"
	"time"
)

// Profile is a player's profile as stored: the bytes encoded by package profile.
type Profile struct {
	// Revision increases by 1 with each change. It is 0 if the player has no profile.
	Revision int64
	Encoded  []byte
}

// Profiles stores the players' profiles. A profile is removed with its account.
type Profiles interface {
	// Get returns a player's profile, or the zero Profile if there is none, and the store's time.
	Get(ctx context.Context, playerID string) (Profile, time.Time, error)
	// Update replaces a player's Encoded with that of p and increments the revision, provided
	// that the stored revision equals p's. If it differs, the error is ErrMoved. Update does nothing
	// if the player has no account. After any other error, the outcome is unknown.
	Update(ctx context.Context, playerID string, p Profile) error
}
