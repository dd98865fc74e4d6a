package gamelog

import (
	"context"
	"time"

	"github.com/gridstand/gridstand/game"
	"github.com/gridstand/gridstand/game/replay"
	"github.com/gridstand/gridstand/server/internal/store"
)

// Draft is an entry to append, together with the state after it. It may be appended
// repeatedly, but takes effect only once.
type Draft struct {
	entry store.Entry // without NotAfter

	// Event is the event of the entry. Until the entry is appended, its time is not final.
	Event *replay.Event
	// Watchers is set when the entry is appended: the number of spectators on all servers, or −1 if it is
	// unknown because the entry was already in the log.
	Watchers int

	// NotAfter is the latest time at which the entry may be appended. Zero means no limit.
	NotAfter time.Time
}

// NewGame returns the draft of a game's first entry.
func NewGame(gameID string, created replay.Created, seed game.Seed) (*Draft, error) {
	entry := replay.Entry{Seat: game.NoSeat, Action: created}
	// The time is set once the store has assigned it. Neither the encoded entry nor the
	// head depends on it.
	event, err := replay.Start(gameID, entry, seed, time.Time{})
	if err != nil {
		return nil, err
	}
	return newDraft(GenesisTip(gameID), event, store.Entry{Seed: seed.SeedBytes()})
}

// Draft returns the draft of an entry to append after t. It returns the errors of
// replay.State.Apply and Undo. Unless notBefore is zero, the entry is not appended before that time.
// past is the state to which the entry reverts the game, or nil if it does not.
func (t Tip) Draft(entry replay.Entry, notBefore time.Time, past *replay.State) (draft *Draft, err error) {
	at := t.State.UpdateTime
	if notBefore.After(at) {
		at = notBefore
	}
	var event *replay.Event
	if past != nil {
		event, err = t.State.Undo(entry, past, at)
	} else {
		event, err = t.State.Apply(entry, at)
	}
	if err != nil {
		return nil, err
	}
	return newDraft(t, event, store.Entry{Prev: t.ID, NotBefore: notBefore})
}

// newDraft returns the draft of event, which follows t. It fills in the rest of entry.
func newDraft(t Tip, event *replay.Event, entry store.Entry) (*Draft, error) {
	var err error
	if entry.Raw, err = encodeEntry(event.Entry); err != nil {
		return nil, err
	}
	b := board(event.State)
	if entry.Head, err = encodeHead(event.State, b); err != nil {
		return nil, err
	}
	entry.Next = nextID(t.ID, entry.Raw, b)
	return &Draft{entry: entry, Event: event}, nil
}

// Tip returns the end of the log after the entry.
func (d *Draft) Tip() Tip { return Tip{ID: d.entry.Next, State: d.Event.State} }

// Append appends d if the log still ends with the entry that d builds on. It also succeeds
// if the draft has already been appended. It returns the errors of store.Games.Append.
func (l *Log) Append(ctx context.Context, d *Draft) error {
	entry := d.entry
	entry.NotAfter = d.NotAfter
	done, err := l.Games.Append(ctx, d.Event.State.ID, entry)
	if err != nil {
		return err
	}
	d.Event.SetTime(done.Time)
	d.Watchers = done.Watchers
	return nil
}
