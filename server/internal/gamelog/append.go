package gamelog

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/gridstand/gridstand/game"
	"github.com/gridstand/gridstand/game/replay"
)

// Draft is an entry that is to be appended, with what it leads to. It can be
// appended again and again: it takes effect once.
type Draft struct {
	prev  ID
	next  ID
	event *replay.Event
	once  sync.Once // the event has its time, and must not change any more

	// head goes into meta with the entry; seed is nil but for the first entry.
	raw, head, seed []byte
	notBefore       time.Time
}

// NewGame drafts the first entry of a game.
func NewGame(gameID string, created replay.Created, seed game.Seed) (*Draft, error) {
	entry := replay.Entry{Seat: game.NoSeat, Action: created}
	// The time stands for the one that Redis will give; nothing that goes into
	// the bytes depends on it.
	event, err := replay.Start(gameID, entry, seed, time.Time{})
	if err != nil {
		return nil, err
	}
	return newDraft(Tip{ID: Genesis(gameID)}, event, seed.SeedBytes(), time.Time{})
}

// Draft drafts the entry that follows t, or says why it cannot follow, with
// the errors of replay.State.Apply. It is not appended before notBefore; a
// zero time means any.
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
	head, err := encodeHead(event.State, b)
	if err != nil {
		return nil, err
	}
	return &Draft{
		prev: prev.ID, next: prev.ID.Next(raw, b), event: event, raw: raw, head: head, seed: seed, notBefore: notBefore,
	}, nil
}

// NeedsLook reports whether somebody has to look at the game soon after the
// entry, and maybe sooner than was noted before: it ends the game, gives the
// turn to a bot, or is no move, so that it may have set a clock anew. After a
// move the next deadline is later than the one that was noted.
func (d *Draft) NeedsLook() bool {
	s := d.event.State
	_, move := d.event.Entry.Action.(replay.Moved)
	return !move || s.Status == replay.Finished || s.Turn() != game.NoSeat && s.Seats[s.Turn()].Mover() != ""
}

// What Append answers when the entry is not in the log.
var (
	// ErrTooEarly means it is not the draft's time yet. Nothing was written.
	ErrTooEarly = errors.New("too early")
	// ErrBroken means log and meta contradict each other. Nothing was written.
	ErrBroken = errors.New("log and meta contradict each other")
	// ErrUnsettled means nobody knows yet whether the entry was written. Only
	// the same Append again settles it: reading does not, since the first one
	// may still be on its way.
	ErrUnsettled = errors.New("outcome of the append is not known")
)

// ConflictError says that the log does not end where the draft builds on.
// Nothing was written.
type ConflictError struct {
	// Last is the ID of the log's last entry, zero when it is empty.
	Last ID
	// Standing is the entry at the version of the draft, nil for none. If it
	// says the same as the draft, somebody's retry got there first.
	Standing *Record
}

func (e *ConflictError) Error() string { return "the log ends with " + e.Last.String() }

// Appended is a draft that the log holds.
type Appended struct {
	// Event has the time that Redis gave it.
	Event *replay.Event
	// Tip that it leads to.
	Tip Tip
	// Watchers of the game on all servers, −1 when the log did not say.
	Watchers int
}

// Append appends the draft if the log still ends with the entry that it builds
// on. A second Append of a draft that was appended succeeds.
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
		// Rounded up: a time in a log is never before the one that was asked for.
		args = append(args, d.notBefore.Add(time.Millisecond-time.Nanosecond).UnixMilli())
	}
	answer, err := l.run(ctx, appendScript, []string{logKey(gameID), metaKey(gameID)}, args...).Result()
	if err != nil {
		return Appended{}, outcome(err)
	}
	if s, ok := answer.(string); ok {
		ms, watchers, _ := strings.Cut(s, " ")
		at, err := parseTime(ms)
		if err != nil {
			return Appended{}, fmt.Errorf("%w: %w", ErrUnsettled, err)
		}
		appended := d.settled(at)
		appended.Watchers = watchersOf(watchers, at)
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

// settled is the event of a draft that the log holds, with its time.
func (d *Draft) settled(at time.Time) Appended {
	d.once.Do(func() { d.event.SetTime(at) })
	return Appended{Event: d.event, Tip: Tip{ID: d.next, State: d.event.State}, Watchers: -1}
}

// Landed is what Append answers, with less work, to whoever heard that the log
// holds r after t: false when r is not the draft's entry, or follows another.
func (d *Draft) Landed(t Tip, r Record) (Appended, bool) {
	if r.ID != d.next || t.ID != d.prev {
		return Appended{}, false
	}
	return d.settled(r.Time), true
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
			return d.settled(r.Time), nil
		}
		conflict.Standing = &r
	}
	return Appended{}, conflict
}

// recordOfReply reads an entry as a script returns it: {id, {field, value, …}}.
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

// outcome sorts the errors of an append: an answer of Redis, and a queue that
// was full, mean that nothing was written; everything else leaves it open.
func outcome(err error) error {
	var answer redis.Error
	if errors.As(err, &answer) || errors.Is(err, redis.ErrAutoPipelineQueueFull) {
		return err
	}
	return fmt.Errorf("%w: %w", ErrUnsettled, err)
}
