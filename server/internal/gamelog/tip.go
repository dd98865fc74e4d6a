package gamelog

import (
	"errors"
	"fmt"
	"time"

	"github.com/gridstand/gridstand/game"
	"github.com/gridstand/gridstand/game/replay"
	"github.com/gridstand/gridstand/server/internal/store"
)

// Tip is the end of a log as far as it was read: its last ID and the game's state
// there. Before the first entry it has Genesis as its ID and no state.
type Tip struct {
	ID store.ID
	// State is nil before the first entry.
	State *replay.State

	// fixed is nil if it was not encoded yet. It is a pointer to keep the tip small: 16
	// bytes more make the stack of a Watch outgrow 8 kB, and joining take a fifth longer.
	fixed *fixedHead
}

// Past returns the state of a game at an earlier version, for an entry that goes back
// to it.
type Past func(version int32) (*replay.State, error)

// Apply returns the event of a record and the tip after it. It checks that the record
// follows t and that its digest matches.
//
// The error is replay.ErrUnknown if a newer server wrote the record, a *PastError if
// past failed, and a *DamagedError if the record does not match.
func (t Tip) Apply(gameID string, r store.Record, past Past) (Tip, *replay.Event, error) {
	damaged := func(detail string) (Tip, *replay.Event, error) {
		return t, nil, &DamagedError{GameID: gameID, Version: t.ID.Version, Detail: detail}
	}
	if r.ID.Version != t.ID.Version+1 {
		return damaged(fmt.Sprintf("version %d follows", r.ID.Version))
	}
	event, err := t.replay(gameID, r, past)
	var unreachable *PastError
	switch {
	case errors.Is(err, replay.ErrUnknown):
		return t, nil, fmt.Errorf("version %d: %w", r.ID.Version, err)
	case errors.As(err, &unreachable):
		return t, nil, err
	}
	if err != nil {
		return damaged(err.Error())
	}
	if next := Next(t.ID, r.Raw, board(event.State)); next != r.ID {
		return damaged(fmt.Sprintf("entry %s should be %s", r.ID, next))
	}
	return Tip{ID: r.ID, State: event.State}, event, nil
}

func (t Tip) replay(gameID string, r store.Record, past Past) (*replay.Event, error) {
	entry, err := EntryOf(r)
	if err != nil {
		return nil, err
	}
	if t.State == nil {
		seed, err := game.SeedFromBytes(r.Seed)
		if err != nil {
			return nil, err
		}
		return replay.Start(gameID, entry, seed, r.Time)
	}
	if r.Time.Before(t.State.UpdateTime) {
		return nil, errors.New("it is older than the one before")
	}
	return t.apply(entry, r.Time, past)
}

// apply applies an entry by State.Apply, or by State.Undo if it goes back.
func (t Tip) apply(entry replay.Entry, at time.Time, past Past) (*replay.Event, error) {
	undone, ok := entry.Action.(replay.Undone)
	if !ok || undone.To < 1 || undone.To >= t.State.Version {
		return t.State.Apply(entry, at)
	}
	state, err := past(undone.To)
	if err != nil {
		return nil, &PastError{err}
	}
	return t.State.Undo(entry, state, at)
}

// PastError says that an earlier state could not be found.
type PastError struct{ Err error }

func (e *PastError) Error() string { return "finding an earlier state: " + e.Err.Error() }

// Unwrap returns the reason.
func (e *PastError) Unwrap() error { return e.Err }

// board returns the position of a state as the rules encode it.
func board(s *replay.State) []byte {
	// AppendBinary does not fail for a position that the rules made.
	b, _ := s.Position.AppendBinary(make([]byte, 0, 64))
	return b
}
