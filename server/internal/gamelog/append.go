package gamelog

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/gridstand/gridstand/game"
	"github.com/gridstand/gridstand/game/replay"
)

// Draft is an entry to append, with the state that it leads to. It may be appended
// repeatedly and takes effect once.
type Draft struct {
	prev  ID
	next  ID
	event *replay.Event
	once  sync.Once // gives the event its time, after which it does not change

	// head goes into meta with the entry; seed is nil but for the first entry.
	raw, head, seed []byte
	fixed           *fixedHead // part of head
	notBefore       time.Time
}

// NewGame drafts the first entry of a game.
func NewGame(gameID string, created replay.Created, seed game.Seed) (*Draft, error) {
	entry := replay.Entry{Seat: game.NoSeat, Action: created}
	// Redis gives the time; the encoded bytes do not depend on it.
	event, err := replay.Start(gameID, entry, seed, time.Time{})
	if err != nil {
		return nil, err
	}
	return newDraft(Tip{ID: Genesis(gameID)}, event, seed.SeedBytes(), time.Time{})
}

// Draft drafts the entry that follows t. Its errors are those of replay.State.Apply.
// The entry is not appended before notBefore, unless that is zero.
func (t Tip) Draft(entry replay.Entry, notBefore time.Time, past Past) (*Draft, error) {
	at := t.State.UpdateTime
	if notBefore.After(at) {
		at = notBefore
	}
	event, err := t.apply(entry, at, past)
	if err != nil {
		return nil, err
	}
	return newDraft(t, event, nil, notBefore)
}

func newDraft(prev Tip, event *replay.Event, seed []byte, notBefore time.Time) (*Draft, error) {
	raw, err := encodeEntry(event.Entry)
	if err != nil {
		return nil, err
	}
	b := board(event.State)
	// Encoding all of the head for each move takes 4 % of what the move costs.
	fixed := prev.fixed
	if fixed == nil || !slices.Equal(prev.State.Seats, event.State.Seats) {
		if fixed, err = encodeFixed(event.State); err != nil {
			return nil, err
		}
	}
	head, err := fixed.head(event.State, b)
	if err != nil {
		return nil, err
	}
	return &Draft{
		prev: prev.ID, next: prev.ID.Next(raw, b), event: event, raw: raw, fixed: fixed, head: head, seed: seed, notBefore: notBefore,
	}, nil
}

// NeedsProcessing reports whether the game has to be processed soon after the entry,
// maybe sooner than scheduled: the entry ends the game, gives the turn to a bot, or is
// no move and so may have set a clock. After a move the next deadline is later than
// the scheduled one.
func (d *Draft) NeedsProcessing() bool {
	s := d.event.State
	_, move := d.event.Entry.Action.(replay.Moved)
	return !move || s.Status == replay.Finished || s.Turn() != game.NoSeat && s.Seats[s.Turn()].Mover() != ""
}

// Errors of Append if the entry is not in the log, or maybe not.
var (
	// ErrTooEarly means it is not the draft's time yet. Nothing was written.
	ErrTooEarly = errors.New("too early")
	// ErrBroken means log and meta contradict each other. Nothing was written.
	ErrBroken = errors.New("log and meta contradict each other")
	// ErrUnsettled means it is unknown whether the entry was written. Only another
	// Append of the draft can tell: reading cannot, since the first one may still be
	// in flight.
	ErrUnsettled = errors.New("outcome of the append is not known")
)

// ConflictError says that the log does not end with the entry that the draft builds on.
// Nothing was written.
type ConflictError struct {
	// Last is the ID of the log's last entry, zero if the log is empty.
	Last ID
	// Standing is the entry at the version of the draft, or nil. If it is the same as
	// the draft, another attempt of the caller was first.
	Standing *Record
}

func (e *ConflictError) Error() string { return "the log ends with " + e.Last.String() }

// Appended is the result of a draft that is in the log.
type Appended struct {
	// Event has the time that Redis gave it.
	Event *replay.Event
	// Tip that it leads to.
	Tip Tip
	// Watchers of the game on all servers, −1 if unknown.
	Watchers int
}

// Append appends the draft if the log still ends with the entry that it builds on.
// It succeeds again for a draft that was appended before.
//
// Errors: *ConflictError, ErrTooEarly, ErrBroken, ErrUnsettled, or an error of
// Redis that says that nothing was written.
func (l *Log) Append(ctx context.Context, d *Draft) (Appended, error) {
	gameID, last := d.event.State.ID, ""
	if d.prev.Version > 0 {
		last = d.prev.String()
	}
	args := []any{last, d.next.String(), d.raw, d.head}
	switch {
	case d.seed != nil:
		args = append(args, 0, d.seed)
	case !d.notBefore.IsZero():
		// Rounded up: the entry must not be earlier.
		args = append(args, d.notBefore.Add(time.Millisecond-time.Nanosecond).UnixMilli())
	}
	answer, err := l.run(ctx, appendScript, []string{logKey(gameID), metaKey(gameID)}, args...).Result()
	if err != nil {
		return Appended{}, appendError(err)
	}
	if s, ok := answer.(string); ok {
		ms, watchers, _ := strings.Cut(s, " ")
		at, err := parseTime(ms)
		if err != nil {
			return Appended{}, fmt.Errorf("%w: %w", ErrUnsettled, err)
		}
		appended := d.result(at)
		appended.Watchers = watchersAt(watchers, at)
		return appended, nil
	}
	reply, _ := answer.([]any)
	word := func(i int) string {
		if i >= len(reply) {
			return ""
		}
		s, _ := reply[i].(string)
		return s
	}
	switch word(0) {
	case "moved":
		return d.conflict(word(1), reply)
	case "early":
		return Appended{}, ErrTooEarly
	case "broken":
		return Appended{}, ErrBroken
	default:
		return Appended{}, fmt.Errorf("%w: reply %v", ErrUnsettled, answer)
	}
}

// result returns the result of the draft, which is in the log with the given time.
func (d *Draft) result(at time.Time) Appended {
	d.once.Do(func() { d.event.SetTime(at) })
	return Appended{Event: d.event, Tip: Tip{ID: d.next, State: d.event.State, fixed: d.fixed}, Watchers: -1}
}

// Landed returns the result of the draft if r, which the feed brought, is its entry
// and follows t. That saves computing the move again, 4 % of what a move in a watched
// game costs the server.
func (d *Draft) Landed(t Tip, r Record) (Appended, bool) {
	if r.ID != d.next || t.ID != d.prev {
		return Appended{}, false
	}
	return d.result(r.Time), true
}

func (d *Draft) conflict(last string, reply []any) (Appended, error) {
	conflict := &ConflictError{}
	if last != "" {
		id, err := ParseID(last)
		if err != nil {
			return Appended{}, ErrBroken
		}
		conflict.Last = id
	}
	if len(reply) > 2 && reply[2] != nil {
		r, err := recordOfReply(reply[2])
		if err != nil {
			return Appended{}, ErrBroken
		}
		if r.ID == d.next {
			return d.result(r.Time), nil
		}
		conflict.Standing = &r
	}
	return Appended{}, conflict
}

// recordOfReply parses an entry as a script returns it: {id, {field, value, …}}.
func recordOfReply(reply any) (Record, error) {
	parts, _ := reply.([]any)
	if len(parts) != 2 {
		return Record{}, errors.New("no stream entry")
	}
	m := redis.XMessage{Values: map[string]any{}}
	m.ID, _ = parts[0].(string)
	fields, _ := parts[1].([]any)
	for i := 0; i+1 < len(fields); i += 2 {
		name, _ := fields[i].(string)
		m.Values[name] = fields[i+1]
	}
	return parseRecord(m)
}

// appendError adds ErrUnsettled to the error of an append, unless it says that nothing
// was written: an answer of Redis, or a full queue.
func appendError(err error) error {
	var answer redis.Error
	if errors.As(err, &answer) || errors.Is(err, redis.ErrAutoPipelineQueueFull) {
		return err
	}
	return fmt.Errorf("%w: %w", ErrUnsettled, err)
}
