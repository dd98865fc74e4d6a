package store

import (
	"context"
	"time"
)

// Challenge is a challenge as stored: the bytes encoded by package challenge, and the
// fields that the store itself needs.
type Challenge struct {
	ID string
	// Revision is 0 before the challenge is stored, and increases by 1 with each change.
	Revision int64
	// Encoded and Expires are the parts that may change.
	Encoded []byte
	// Kind (above 0) and Created (to the millisecond) determine the challenge's place in
	// lists, if it is Listed.
	Kind    uint8
	Listed  bool
	Created time.Time
	// Expires is when the challenge is removed.
	Expires time.Time
}

// Challenges stores challenges. A challenge is a group of games that share a seed. Its
// attempts are stored as games, and its final standings as a board.
type Challenges interface {
	// Get returns those of the given challenges that exist, by ID, and the store's time
	// at some point during the call.
	Get(ctx context.Context, ids ...string) (map[string]Challenge, time.Time, error)
	// Update stores c, which must not have expired, with the next revision, provided that
	// the stored revision equals c's: 0 if there is no such challenge. If it differs, the error
	// is ErrMoved; an earlier attempt of the same call may be the reason. After any other error,
	// the outcome is unknown.
	Update(ctx context.Context, c Challenge) error
	// List returns the places of up to n listed challenges of the given kind (0 means all
	// kinds) after the given place, newest first. A place's rank is the challenge's time
	// of creation in Unix milliseconds. The list may contain challenges that have expired.
	List(ctx context.Context, kind uint8, after Place, n int) ([]Place, error)
}
