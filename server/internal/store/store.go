// Package store is what the server keeps, as ports in the words of the domain. An
// engine implements all of them: store/redis for many servers on one Redis,
// store/sqlite for one server and its file. The contract of the ports is the test
// suite in storetest, which every engine passes.
//
// What is the same for all engines stands above the ports: the encoding of entries
// and the digest chain in gamelog, tokens and names in account, the windows of
// leaderboards in leaderboard, page tokens in page.
//
// Every method may be called concurrently. An error that is not named by a method is
// an *Error, or the context's.
package store

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Store is an open engine: its ports, and what is asked of it as a whole.
type Store struct {
	Engine

	Games       Games
	Feed        Feed
	Accounts    Accounts
	Keys        Keys
	Credentials Credentials
	Boards      Boards
	Lists       Lists
	Queue       Queue
	Quotas      Quotas
	Exhibitions Exhibitions
	Heartbeats  Heartbeats
	Secrets     Secrets
	Copier      Copier

	// Background is the same store over connections of its own: for the heartbeat,
	// the scheduler and health checks, which must not wait behind the calls of
	// clients. It has no Background.
	Background *Store
}

// Engine is what is asked of a store as a whole.
type Engine interface {
	// Name says which store it is, for logs and GetServerInfo; without passwords.
	Name() string
	// Durable reports whether what is kept outlives the program.
	Durable() bool
	// Shared reports whether several servers can work on the store at a time.
	Shared() bool
	// Transactional reports whether the store calls Entry.Then.
	Transactional() bool
	// Ping returns an error if the store does not answer.
	Ping(ctx context.Context) error
	// Time is the store's clock, which decides all times that are stored.
	Time(ctx context.Context) (time.Time, error)
	// Run does what the engine does by itself, such as removing what has expired,
	// until ctx ends. It is called once.
	Run(ctx context.Context)
	// Close releases the store. It is called after Run, and after all calls.
	Close() error
}

// NameError says that the name of a store, which Open of an engine takes, is not valid.
// It never quotes text that may be a password.
type NameError struct{ Err error }

func (e *NameError) Error() string { return e.Err.Error() }

// Unwrap returns the reason.
func (e *NameError) Unwrap() error { return e.Err }

// Error is an error of an engine, or of the way to it. Nothing is wrong with the
// call: it may succeed later.
type Error struct {
	Kind Kind
	Err  error
}

func (e *Error) Error() string { return e.Err.Error() }

// Unwrap returns the engine's own error.
func (e *Error) Unwrap() error { return e.Err }

// Kind says what is wrong with a store; it is the label of the metric that counts
// errors. An engine may have others.
type Kind string

// The kinds that callers tell apart.
const (
	// Connection means that the store could not be reached.
	Connection Kind = "connection"
	// Timeout means that the store did not answer in time.
	Timeout Kind = "timeout"
	// QueueFull means that too many commands wait for the store in this process.
	QueueFull Kind = "queue_full"
	// Full means that the store has no room, on its disk or in its memory.
	Full Kind = "full"
	// ReadOnly means that the store takes no writes.
	ReadOnly Kind = "readonly"
	// Corrupt means that what the store reads is not what it wrote.
	Corrupt Kind = "corrupt"
)

// Failed returns an *Error.
func Failed(kind Kind, format string, args ...any) error {
	return &Error{Kind: kind, Err: fmt.Errorf(format, args...)}
}

// IsError reports whether err is an engine's, or a timeout.
func IsError(err error) bool {
	var failed *Error
	return errors.As(err, &failed) || errors.Is(err, ErrUnsettled) ||
		errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled)
}
