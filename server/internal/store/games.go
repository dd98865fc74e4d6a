package store

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// ID identifies an entry of a log and, by its digest, all entries before it. Engines
// compare IDs but do not compute digests.
type ID struct {
	// Version is the version of the entry, from 1.
	Version int32
	// Digest is the digest of the log up to and including the entry.
	Digest uint64
}

// String returns the ID as version-digest.
func (id ID) String() string {
	return strconv.Itoa(int(id.Version)) + "-" + strconv.FormatUint(id.Digest, 10)
}

// ParseID parses an ID formatted by String.
func ParseID(s string) (ID, error) {
	version, digest, ok := strings.Cut(s, "-")
	v, err := strconv.ParseInt(version, 10, 32)
	if !ok || err != nil || v < 0 {
		return ID{}, fmt.Errorf("not the ID of a log entry: %q", s)
	}
	d, err := strconv.ParseUint(digest, 10, 64)
	if err != nil {
		return ID{}, fmt.Errorf("not the ID of a log entry: %q", s)
	}
	return ID{Version: int32(v), Digest: d}, nil
}

// MarshalText returns the same as String.
func (id ID) MarshalText() ([]byte, error) { return []byte(id.String()), nil }

// UnmarshalText parses text formatted by MarshalText.
func (id *ID) UnmarshalText(text []byte) (err error) {
	*id, err = ParseID(string(text))
	return err
}

// Games stores the logs of all games. A log is append-only. Each log has a head, which
// holds what lists show about the game as of its last entry.
type Games interface {
	// Append appends e if the log still ends with e.Prev. There is no other way to add to
	// a log. Appending the same entry again succeeds and returns the original time.
	//
	// Errors: *ConflictError, ErrTooEarly, ErrTooLate, ErrBroken, ErrUnsettled, and an
	// *Error if nothing was written.
	Append(ctx context.Context, gameID string, e Entry) (Appended, error)

	// Tail reads the end of the game's log, as of some point during the call.
	Tail(ctx context.Context, gameID string) (Tail, error)
	// Entries returns up to n entries of a log in order, starting at the given version. If
	// an error occurs, it also returns the entries that it has read so far; a *CorruptError
	// means that the next entry cannot be read.
	Entries(ctx context.Context, gameID string, from int32, n int) ([]Record, error)
	// Heads returns the heads of the given games, in the same order.
	Heads(ctx context.Context, gameIDs []string) ([]Head, error)

	// Mend replaces a head that has fallen behind its log with the given one. It does nothing
	// unless the head still has the ID from, zero for a missing head. The caller must have found
	// both IDs in the log. It ignores head.Watchers.
	Mend(ctx context.Context, gameID string, from ID, head Head) error
	// Expire sets the given games to be removed at the given time.
	Expire(ctx context.Context, at time.Time, gameIDs ...string) error
	// Quarantine sets the head of a game to an ID that no entry has, so that later appends
	// fail and readers see that the game is in quarantine. last must be the ID of the log's
	// last entry, or zero if the log is missing; otherwise the error is ErrMoved. The game
	// expires after the duration keep. It is safe to repeat the call.
	Quarantine(ctx context.Context, gameID string, last ID, keep time.Duration) error

	// IDs calls visit with batches of the IDs of all games that have a log. A game that
	// exists throughout the call is visited at least once. IDs stops at the first error,
	// including one from visit.
	IDs(ctx context.Context, visit func(gameIDs []string) error) error

	// Audience stores the game's number of spectators on the given server or, while the game
	// waits for players, how many of its players watch it there. It returns the
	// total across all servers, and also sends that total to the game's followers, with
	// the given reactions, which are not stored. On an engine that servers share, a count is
	// valid for AudienceTTL.
	Audience(ctx context.Context, gameID, serverID string, count int, shown Reactions) (total int, err error)
}

// Reactions counts the reactions of watchers by kind, in the order of the contract.
type Reactions [6]int32

// Any reports whether there are reactions.
func (r Reactions) Any() bool { return r != Reactions{} }

// AudienceTTL is how long a server's spectator count is valid.
const AudienceTTL = 30 * time.Second

// Quarantined is the ID in the head of a game in quarantine.
var Quarantined = ID{Version: 1<<31 - 1}

// Entry is an entry to append.
type Entry struct {
	// Prev is the ID of the entry that this one builds on, zero for the first entry. Next
	// is this entry's own ID.
	Prev, Next ID
	// Raw is the encoded entry, and Head the encoded head that is stored with it.
	Raw, Head []byte
	// Seed is the seed of the game, set only for the first entry.
	Seed []byte
	// NotBefore and NotAfter bound the entry's time by the store's clock; zero means no
	// bound.
	NotBefore, NotAfter time.Time
}

// Appended is the result of an append.
type Appended struct {
	// Time is the time of the entry by the store's clock, to the millisecond. Times
	// never decrease within a log.
	Time time.Time
	// Watchers is the number of spectators on all servers, or −1 if the entry was already
	// in the log.
	Watchers int
}

// Errors of Append. Unless the error is ErrUnsettled, nothing was written.
var (
	// ErrTooEarly means that NotBefore has not been reached.
	ErrTooEarly = errors.New("too early")
	// ErrTooLate means that NotAfter has passed.
	ErrTooLate = errors.New("too late")
	// ErrBroken means that the log and its head contradict each other.
	ErrBroken = errors.New("log and head contradict each other")
	// ErrUnsettled means that it is unknown whether the entry was written. The only way
	// to find out is to append the entry again: reading is not enough, because the first
	// append may still be in flight.
	ErrUnsettled = errors.New("the outcome of the append is unknown")
)

// ErrMoved means that a log no longer ends with the last entry that the caller saw, or that a
// challenge or profile no longer has the revision that the caller saw.
var ErrMoved = errors.New("it has changed since it was read")

// ConflictError means that the log does not end with the entry that an append builds on.
type ConflictError struct {
	// Last is the ID of the log's last entry, zero if the log is empty.
	Last ID
}

func (e *ConflictError) Error() string { return "the log ends with " + e.Last.String() }

// CorruptError means that a log entry cannot be read.
type CorruptError struct {
	// Version is the version of the entry before the unreadable one.
	Version int32
	Err     error
}

func (e *CorruptError) Error() string {
	return fmt.Sprintf("the entry after version %d cannot be read: %v", e.Version, e.Err)
}

// Unwrap returns the reason why the entry cannot be read.
func (e *CorruptError) Unwrap() error { return e.Err }

// Record is an entry as stored in a log.
type Record struct {
	ID   ID
	Time time.Time
	// Raw is the encoded entry. Seed is empty except in the first entry.
	Raw  []byte
	Seed []byte `json:",omitempty"`
}

// Tail is the end of a game's log. An ID that cannot be read has version −1.
type Tail struct {
	// Length is the number of entries. An engine that would have to read them all to count them
	// counts the versions from the first entry to the last instead.
	Length int64
	// Last is the ID of the last entry, zero for an empty log.
	Last ID
	// Head is the ID stored in the head, zero if there is no head.
	Head ID
	// Watchers is the number of spectators on all servers.
	Watchers int
}

// Sound reports whether the log looks undamaged: its length equals its last version, and
// the head names its last entry.
func (t Tail) Sound() bool {
	return t.Length == int64(t.Last.Version) && t.Length > 0 && t.Head == t.Last
}

// Quarantined reports whether the game is in quarantine.
func (t Tail) Quarantined() bool { return t.Head == Quarantined }

// Head is what lists show about a game.
type Head struct {
	// Exists reports whether the game exists.
	Exists bool
	// Last is the ID of the entry that the head belongs to, and Time that entry's time.
	// Both are zero if they cannot be read.
	Last ID
	Time time.Time
	// Encoded is the head as encoded by the caller.
	Encoded []byte
	// Watchers is the number of spectators on all servers.
	Watchers int
}

// Feed notifies a server of new entries in the games that it follows, while Engine.Run is running.
// The feed of an engine that servers do not share publishes no entries, because the server has
// appended all of them itself.
type Feed interface {
	// Follow passes the events of a game to l, starting with Listening, until Leave is
	// called. It may call Listening before it returns. A game has at most one listener.
	Follow(gameID string, l Listener)
	// Leave stops passing the game's events to its listener. A call to the listener may
	// still be running when Leave returns.
	Leave(gameID string)
}

// Listener receives the events of a game. Its methods must not block, because all other events for
// this server may wait for them. AudienceCounted may be called while another method is running;
// otherwise they are called one at a time.
type Listener interface {
	// Listening is called when following starts or resumes after an interruption. The
	// listener must read earlier entries from the log.
	Listening()
	// Published is called with each new entry, in log order. Entries may be missing or
	// repeated after interruptions, and the first ones may predate Listening. The record
	// has no seed.
	Published(Record)
	// AudienceCounted is called with the number of spectators on all servers, and the
	// reactions on one server since its last report.
	AudienceCounted(total int, shown Reactions)
}
