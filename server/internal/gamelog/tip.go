package gamelog

import (
	"errors"
	"fmt"

	"github.com/gridstand/gridstand/game"
	"github.com/gridstand/gridstand/game/replay"
	"github.com/gridstand/gridstand/server/internal/store"
)

// Tip is the end of a log as far as it has been read: the last ID and the state of the game
// at that point. Before the first entry, the ID is Genesis.
type Tip struct {
	ID store.ID
	// State is nil before the first entry.
	State *replay.State
}

// GenesisTip returns the tip of a game before its first entry.
func GenesisTip(gameID string) Tip { return Tip{ID: Genesis(gameID)} }

// Past returns the state of a game at an earlier version, or nil if it does not have that state.
// It is called to apply an entry that reverts the game to that version.
type Past func(version int32) *replay.State

// errNoPast means that an entry reverts the game to a state that the Past does not have.
var errNoPast = errors.New("the game was reverted to an unknown state")

// Apply returns the event of r and the tip after it. It checks that the record follows t
// and that its digest matches.
//
// The error is replay.ErrUnknown if a newer server wrote the record, errNoPast if past returned
// nil, and a *DamagedError if the record does not match.
func (t Tip) Apply(gameID string, r store.Record, past Past) (Tip, *replay.Event, error) {
	damaged := func(detail string) (Tip, *replay.Event, error) {
		return t, nil, &DamagedError{GameID: gameID, Version: t.ID.Version, Detail: detail}
	}
	if r.ID.Version != t.ID.Version+1 {
		return damaged(fmt.Sprintf("the next version is %d", r.ID.Version))
	}
	event, err := t.replay(gameID, r, past)
	switch {
	case errors.Is(err, replay.ErrUnknown):
		return t, nil, fmt.Errorf("version %d: %w", r.ID.Version, err)
	case errors.Is(err, errNoPast):
		return t, nil, err
	case err != nil:
		return damaged(err.Error())
	}
	if next := nextID(t.ID, r.Raw, board(event.State)); next != r.ID {
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
		return nil, errors.New("the entry is older than the previous one")
	}
	undone, ok := entry.Action.(replay.Undone)
	if !ok || undone.To < 1 || undone.To >= t.State.Version {
		return t.State.Apply(entry, r.Time)
	}
	state := past(undone.To)
	if state == nil {
		return nil, errNoPast
	}
	return t.State.Undo(entry, state, r.Time)
}

// board returns the position in s, as encoded by the rules.
func board(s *replay.State) []byte {
	// AppendBinary does not fail for positions created by the rules.
	b, _ := s.Position.AppendBinary(make([]byte, 0, 64))
	return b
}
