package gamelog

import (
	"errors"
	"fmt"

	"github.com/gridstand/gridstand/game/replay"
)

// Tip is a game at the end of what is known of its log. The zero Tip with
// Genesis as its ID stands before the first entry.
type Tip struct {
	ID ID
	// State is nil before the first entry.
	State *replay.State
}

// Apply returns the event that a record is, and the tip after it, checking
// that the record follows and that its digest is that of this very history.
//
// The error is replay.ErrUnknown when a newer server wrote the record, and a
// *DamagedError when it does not fit.
func (t Tip) Apply(gameID string, r Record) (Tip, *replay.Event, error) {
	damaged := func(detail string) (Tip, *replay.Event, error) {
		return t, nil, &DamagedError{Version: t.ID.Version, Detail: detail}
	}
	if r.ID.Version != t.ID.Version+1 {
		return damaged(fmt.Sprintf("version %d follows", r.ID.Version))
	}
	event, err := t.replay(gameID, r)
	if errors.Is(err, replay.ErrUnknown) {
		return t, nil, fmt.Errorf("version %d: %w", r.ID.Version, err)
	}
	if err != nil {
		return damaged(err.Error())
	}
	if next := t.ID.Next(r.raw, board(event.State)); next != r.ID {
		return damaged(fmt.Sprintf("entry %s should be %s", r.ID, next))
	}
	return Tip{ID: r.ID, State: event.State}, event, nil
}

func (t Tip) replay(gameID string, r Record) (*replay.Event, error) {
	entry, err := r.Entry()
	if err != nil {
		return nil, err
	}
	if t.State == nil {
		seed, err := seedOf(r)
		if err != nil {
			return nil, err
		}
		return replay.Start(gameID, entry, seed, r.Time)
	}
	if r.Time.Before(t.State.UpdateTime) {
		return nil, errors.New("it is older than the one before")
	}
	return t.State.Apply(entry, r.Time)
}

// board gives the position of a state in the rules' own bytes.
func board(s *replay.State) []byte {
	// AppendBinary of a position that rules made does not fail.
	b, _ := s.Position.AppendBinary(make([]byte, 0, 64))
	return b
}
