// Package store defines the server's storage as interfaces in terms of the domain. Every
// engine implements all of them: store/redis for any number of servers that share a Redis
// server or cluster, store/sqlite for one server with its own file. The test suite in
// storetest, which every engine passes, is the contract of these interfaces.
//
// Logic that is the same for all engines is in other packages: the encoding of entries
// and the digest chain in gamelog, tokens and names in account, the windows of
// leaderboards in leaderboard, page tokens in page.
//
// Every method may be called concurrently. Unless a method documents another error,
// errors are an *Error or the context's error.
package store

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Store is an open engine with all its interfaces.
type Store struct {
	Engine

	Games       Games
	Feed        Feed
	Accounts    Accounts
	Keys        Keys
	Sessions    Sessions
	Credentials Credentials
	Boards      Boards
	Lists       Lists
	Queue       Queue
	Challenges  Challenges
	Profiles    Profiles
	Heartbeats  Heartbeats
	Secrets     Secrets
	Dumper      Dumper

	// Background accesses the same store over separate connections, for the heartbeat,
	// the jobs and health checks, which must not queue behind client calls. The
	// Background of that Store is nil.
	Background *Store
}

// Engine has the operations that concern the store as a whole.
type Engine interface {
	// Name identifies the store in logs and errors. It contains no passwords.
	Name() string
	// Shared reports whether several servers can use the store at the same time.
	Shared() bool
	// Time returns the current time according to the store's clock, the basis of all
	// stored times.
	Time(ctx context.Context) (time.Time, error)
	// Run does the engine's background work, such as removing expired data and receiving what
	// the Feed passes on, until ctx is done. It is called once.
	Run(ctx context.Context)
	// Close releases the store's resources. Call it only after Run and all other calls
	// have returned.
	Close() error
}

// NameError means that the name passed to an engine's Open is invalid. Its message never
// contains anything that may be a password.
type NameError struct{ Err error }

func (e *NameError) Error() string { return e.Err.Error() }

// Unwrap returns the reason why the name is invalid.
func (e *NameError) Unwrap() error { return e.Err }

// Error is an error from an engine or from the connection to it. The call itself was
// valid, so a later attempt may succeed.
type Error struct {
	Kind Kind
	Err  error
}

func (e *Error) Error() string { return e.Err.Error() }

// Unwrap returns the engine's own error.
func (e *Error) Unwrap() error { return e.Err }

// Kind classifies a store error. The error-counting metric uses it as a label. Engines
// may define more kinds.
type Kind string

// The kinds that callers distinguish.
const (
	// Connection means that the store could not be reached.
	Connection Kind = "connection"
	// Timeout means that the store did not answer in time.
	Timeout Kind = "timeout"
	// QueueFull means that too many commands are waiting for the store in this process.
	QueueFull Kind = "queue_full"
	// Full means that the store has run out of disk space or memory.
	Full Kind = "full"
	// ReadOnly means that the store rejects writes.
	ReadOnly Kind = "readonly"
	// Corrupt means that the store's data is damaged.
	Corrupt Kind = "corrupt"
)

// Milli returns a time in Unix milliseconds, and 0 for the zero time.
func Milli(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMilli()
}

// FromMilli is the inverse of Milli.
func FromMilli(ms int64) time.Time {
	if ms == 0 {
		return time.Time{}
	}
	return time.UnixMilli(ms).UTC()
}

// ByID calls get with the index of each of the given IDs, and returns what get has found, by ID.
func ByID[T any](ids []string, get func(i int) (value T, exists bool, err error)) (map[string]T, error) {
	found := make(map[string]T, len(ids))
	for i, id := range ids {
		value, exists, err := get(i)
		if err != nil {
			return nil, err
		}
		if exists {
			found[id] = value
		}
	}
	return found, nil
}

// Failed returns an *Error with the given kind and a formatted message.
func Failed(kind Kind, format string, args ...any) error {
	return &Error{Kind: kind, Err: fmt.Errorf(format, args...)}
}

// IsError reports whether err is an error of the store or its connection, including a
// timeout.
func IsError(err error) bool {
	var failed *Error
	return errors.As(err, &failed) || errors.Is(err, ErrUnsettled) ||
		errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled)
}
