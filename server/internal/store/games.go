package store

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// ID names an entry of a log and, by its digest, all entries before it. An engine
// compares IDs and knows nothing of how a digest is made.
type ID struct {
	// Version of the entry, from 1.
	Version int32
	// Digest of the history up to and with the entry.
	Digest uint64
}

// String returns the ID as version-digest.
func (id ID) String() string {
	var room [10 + 1 + 20]byte // as many digits as there can be
	b := strconv.AppendInt(room[:0], int64(id.Version), 10)
	b = append(b, '-')
	return string(strconv.AppendUint(b, id.Digest, 10))
}

// ParseID parses what String returns.
func ParseID(s string) (ID, error) {
	version, digest, ok := strings.Cut(s, "-")
	v, err := strconv.ParseInt(version, 10, 32)
	if !ok || err != nil || v < 0 {
		return ID{}, fmt.Errorf("no id of a log entry: %q", s)
	}
	d, err := strconv.ParseUint(digest, 10, 64)
	if err != nil {
		return ID{}, fmt.Errorf("no id of a log entry: %q", s)
	}
	return ID{Version: int32(v), Digest: d}, nil
}

// Games are the logs of all games. A log is append-only; beside it stands its head:
// what lists show of the game at its last entry.
type Games interface {
	// Append appends an entry if the log still ends with the entry that it builds
	// on. It is the only way in which a game grows. It succeeds again for an entry
	// that was appended before, with the time that it got then.
	//
	// Errors: *ConflictError, ErrTooEarly, ErrTooLate, ErrBroken, ErrUnsettled, and
	// an *Error if nothing was written.
	Append(ctx context.Context, gameID string, e Entry) (Appended, error)
	// Ready returns the error that an append would get now, or nil. It writes nothing.
	Ready(ctx context.Context) error

	// Tail reads where a log ends, as of a moment within the call.
	Tail(ctx context.Context, gameID string) (Tail, error)
	// EndsWith reports whether a log ended with an entry at a moment within the call,
	// and how many watch the game. It may be quicker than Tail, and may miss a last
	// entry that was replaced by another.
	EndsWith(ctx context.Context, gameID string, last ID) (ends bool, watchers int, err error)
	// Entries returns up to n entries of a log from a version on, in order. With an
	// error it returns those before it; a *CorruptError says that the next one cannot
	// be read.
	Entries(ctx context.Context, gameID string, from int32, n int) ([]Record, error)
	// Heads returns the heads of the given games, in their order.
	Heads(ctx context.Context, gameIDs []string) ([]Head, error)

	// Mend writes the head of a log that ends with last, if the head fell behind. It
	// does nothing if the log has moved on, or if the head names an entry that the
	// log does not hold.
	Mend(ctx context.Context, gameID string, last ID, at time.Time, head []byte) error
	// Expire has games removed at the given time.
	Expire(ctx context.Context, at time.Time, gameIDs ...string) error
	// Quarantine has the head of a game name an entry that no log holds, so that
	// nothing is appended after this and readers are told. The log must end with
	// last, zero for a missing log; otherwise the error is ErrMoved. The game expires
	// after the given time. It can be repeated.
	Quarantine(ctx context.Context, gameID string, last ID, keep time.Duration) error

	// IDs calls visit with the ids of all games that have a log, some at a time. A
	// game that exists all the time is visited at least once. It stops at the first
	// error, also of visit.
	IDs(ctx context.Context, visit func(gameIDs []string) error) error
	// IDsAtRisk is IDs for the games that are lost together with the heartbeats: all
	// of them but on a cluster.
	IDsAtRisk(ctx context.Context, visit func(gameIDs []string) error) error

	// Audience reports how many watch a game on a server, and returns how many do on
	// all servers, which followers are told, too. A report counts for AudienceTTL.
	Audience(ctx context.Context, gameID, serverID string, count int) (total int, err error)
}

// AudienceTTL is how long a server's count of watchers is valid.
const AudienceTTL = 30 * time.Second

// Quarantined is the ID that the head of a game in quarantine names.
var Quarantined = ID{Version: 1<<31 - 1}

// Entry is an entry to append.
type Entry struct {
	// Prev is the last entry that it builds on, the zero ID for none. Next is its own.
	Prev, Next ID
	// Raw is the encoded entry, and Head what goes into the head with it.
	Raw, Head []byte
	// Seed of the game, with the first entry only.
	Seed []byte
	// NotBefore and NotAfter bound the time of the entry by the store's clock; zero
	// for no bound.
	NotBefore, NotAfter time.Time
	// Then is called in the transaction of the append, after the entry was written at
	// the given time, by an engine that has transactions. What it does with the store
	// under its ctx is committed with the entry, or not at all; its error is that of
	// the append. It must not wait for anything else. An engine without transactions
	// does not call it and says so in Appended.
	Then func(ctx context.Context, at time.Time) error
}

// Appended is the result of an append.
type Appended struct {
	// Time of the entry, by the store's clock, to the millisecond. Times do not go
	// back within a log.
	Time time.Time
	// Watchers of the game on all servers, −1 if the entry stood there before.
	Watchers int
	// Then reports whether the function of the entry was called, now or when the
	// entry was appended.
	Then bool
}

// Errors of Append and Quarantine. Nothing was written but for ErrUnsettled.
var (
	// ErrTooEarly means that it is not NotBefore yet.
	ErrTooEarly = errors.New("too early")
	// ErrTooLate means that NotAfter has passed.
	ErrTooLate = errors.New("too late")
	// ErrBroken means that log and head contradict each other.
	ErrBroken = errors.New("log and head contradict each other")
	// ErrUnsettled means it is unknown whether the entry was written. Only another
	// Append of the entry can tell: reading cannot, since the first one may still be
	// in flight.
	ErrUnsettled = errors.New("outcome of the append is not known")
	// ErrMoved means that a log no longer ends with the entry that the caller saw last.
	ErrMoved = errors.New("the log has moved on")
)

// ConflictError says that the log does not end with the entry that an append builds on.
type ConflictError struct {
	// Last is the ID of the log's last entry, zero if the log is empty.
	Last ID
	// Standing is the entry at the version of the one to append, or nil.
	Standing *Record
}

func (e *ConflictError) Error() string { return "the log ends with " + e.Last.String() }

// CorruptError says that an entry of a log cannot be read.
type CorruptError struct {
	// Version is the last one before it.
	Version int32
	Err     error
}

func (e *CorruptError) Error() string {
	return fmt.Sprintf("the entry after version %d cannot be read: %v", e.Version, e.Err)
}

// Unwrap returns the reason.
func (e *CorruptError) Unwrap() error { return e.Err }

// Record is an entry as a log holds it.
type Record struct {
	ID   ID
	Time time.Time
	// Raw is the encoded entry; Seed is empty but for the first one.
	Raw, Seed []byte
}

// Tail is the end of a game's log. An ID that cannot be read has the version −1.
type Tail struct {
	// Length is the number of entries.
	Length int64
	// Last is the ID of the last entry, zero for an empty log.
	Last ID
	// Head is the ID of the last entry by the head, zero if there is no head.
	Head ID
	// Watchers of the game on all servers.
	Watchers int
}

// Sound reports whether the log looks undamaged: it has as many entries as its last
// version says, and the head names the last.
func (t Tail) Sound() bool {
	return t.Length == int64(t.Last.Version) && t.Length > 0 && t.Head == t.Last
}

// Quarantined reports whether the game is in quarantine.
func (t Tail) Quarantined() bool { return t.Head == Quarantined }

// Head is what lists show of a game.
type Head struct {
	// Exists says that there is such a game.
	Exists bool
	// Last is the ID of the entry that it belongs to and Time that entry's time; zero
	// if they cannot be read.
	Last ID
	Time time.Time
	// Encoded is the head of that entry.
	Encoded []byte
	// Watchers on all servers.
	Watchers int
}

// Feed tells a server what is appended to the games that it follows.
type Feed interface {
	// Follow passes what happens to a game to l, starting with Listening, until
	// Leave. A game has one listener.
	Follow(gameID string, l Listener)
	// Leave ends Follow. A call of the listener may still be running.
	Leave(gameID string)
	// Run calls the listeners until ctx ends. It is called once.
	Run(ctx context.Context) error
}

// Listener receives what happens to a game. Its methods are called one at a time
// and must not block: all that is told to this server waits for them.
type Listener interface {
	// Listening is called when following starts, also after an interruption. What
	// was appended before has to be read from the log.
	Listening()
	// Published is called with each entry, in the order of the log, but with gaps and
	// repeats after interruptions; at first maybe with one from before Listening. It has
	// no seed.
	Published(Record)
	// Audience is called with how many watch the game on all servers.
	Audience(total int)
}
