package gamelog

import (
	"errors"
	"fmt"
	"time"

	"github.com/gridstand/gridstand/game/replay"
)

// Tip is a game at the end of what is known of its log. The zero Tip with
// Genesis as its ID stands before the first entry.
type Tip struct {
	ID ID
	// State is nil before the first entry.
	State *replay.State
}

// Past finds the state that a game had at a version, for an entry that goes
// back there.
type Past func(version int32) (*replay.State, error)

// Apply returns the event that a record is, and the tip after it, checking
// that the record follows and that its digest is that of this very history.
//
// The error is replay.ErrUnknown when a newer server wrote the record, a
// *PastError when past failed, and a *DamagedError when the record does not
// fit.
func (t Tip) Apply(gameID string, r Record, past Past) (Tip, *replay.Event, error) {
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
	if next := t.ID.Next(r.raw, board(event.State)); next != r.ID {
		return damaged(fmt.Sprintf("entry %s should be %s", r.ID, next))
	}
	return Tip{ID: r.ID, State: event.State}, event, nil
}

func (t Tip) replay(gameID string, r Record, past Past) (*replay.Event, error) {
	entry, err := r.Entry()
	if err != nil {
		return nil, err
	}
	if t.State == nil {
		seed, err := r.gameSeed()
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

// apply is State.Apply, or State.Undo for an entry that goes back.
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

// Unwrap returns why.
func (e *PastError) Unwrap() error { return e.Err }

// board gives the position of a state in the rules' own bytes.
func board(s *replay.State) []byte {
	// AppendBinary of a position that rules made does not fail.
	b, _ := s.Position.AppendBinary(make([]byte, 0, 64))
	return b
}
