package gamelog

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/gridstand/gridstand/game"
	"github.com/gridstand/gridstand/game/replay"
	"github.com/gridstand/gridstand/server/internal/store"
)

// Draft is an entry to append, with the state that it leads to. It may be appended
// repeatedly and takes effect once.
type Draft struct {
	prev  store.ID
	next  store.ID
	event *replay.Event
	once  sync.Once // gives the event its time, after which it does not change

	// head is stored with the entry; seed is nil but for the first entry.
	raw, head, seed []byte
	fixed           *fixedHead // part of head
	notBefore       time.Time

	// NotAfter is the latest time of the entry; zero for any.
	NotAfter time.Time
	// Then is called with the state that the entry leads to, in the transaction of the
	// append, by a store that has transactions; see store.Entry. Nil for nothing.
	Then func(ctx context.Context, next *replay.State) error
}

// NewGame drafts the first entry of a game.
func NewGame(gameID string, created replay.Created, seed game.Seed) (*Draft, error) {
	entry := replay.Entry{Seat: game.NoSeat, Action: created}
	// The store gives the time; the encoded bytes do not depend on it.
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
		prev: prev.ID, next: Next(prev.ID, raw, b), event: event, raw: raw, fixed: fixed, head: head, seed: seed, notBefore: notBefore,
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

// Appended is the result of a draft that is in the log.
type Appended struct {
	// Event has the time that the store gave it.
	Event *replay.Event
	// Tip that it leads to.
	Tip Tip
	// Watchers of the game on all servers, −1 if unknown.
	Watchers int
	// Then reports whether Draft.Then was called, by this append or an earlier one.
	Then bool
}

// Append appends the draft if the log still ends with the entry that it builds on.
// It succeeds again for a draft that was appended before. Its errors are those of
// store.Games.Append.
func (l *Log) Append(ctx context.Context, d *Draft) (Appended, error) {
	entry := store.Entry{
		Prev: d.prev, Next: d.next, Raw: d.raw, Head: d.head, Seed: d.seed, NotBefore: d.notBefore, NotAfter: d.NotAfter,
	}
	if d.prev.Version == 0 {
		entry.Prev = store.ID{}
	}
	if d.Then != nil {
		entry.Then = d.then
	}
	done, err := l.Games.Append(ctx, d.event.State.ID, entry)
	if err != nil {
		return Appended{}, err
	}
	appended := d.result(done.Time)
	appended.Watchers, appended.Then = done.Watchers, done.Then
	return appended, nil
}

// then calls Then with a state of its own: the transaction may fail, and the next one
// give the entry another time.
func (d *Draft) then(ctx context.Context, at time.Time) error {
	state, event := *d.event.State, *d.event
	event.State = &state
	event.SetTime(at)
	return d.Then(ctx, event.State)
}

// result returns the result of the draft, which is in the log with the given time.
func (d *Draft) result(at time.Time) Appended {
	d.once.Do(func() { d.event.SetTime(at) })
	return Appended{Event: d.event, Tip: Tip{ID: d.next, State: d.event.State, fixed: d.fixed}, Watchers: -1}
}

// Landed returns the result of the draft if r, which the feed brought, is its entry
// and follows t. That saves computing the move again, 4 % of what a move in a watched
// game costs the server.
func (d *Draft) Landed(t Tip, r store.Record) (Appended, bool) {
	if r.ID != d.next || t.ID != d.prev {
		return Appended{}, false
	}
	return d.result(r.Time), true
}
