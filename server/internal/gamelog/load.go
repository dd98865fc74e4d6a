package gamelog

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/gridstand/gridstand/game/replay"
)

// History is a game read from its log.
type History struct {
	Tip Tip
	// Events are the latest ones.
	Events []*replay.Event
}

// Sound reports whether the log can be what its tail says: as many entries as
// versions, and meta naming its last.
func (t Tail) Sound() bool {
	return t.Length == int64(t.Last.Version) && t.Length > 0 && t.Meta == t.Last
}

// Quarantined reports whether the game is in quarantine.
func (t Tail) Quarantined() bool { return t.Meta == quarantined }

// Load reads a whole log, checks it from the first entry to the last, and
// keeps the latest events. Where through is not zero, the log must hold it. A
// meta that stands behind its log is mended.
//
// Errors: ErrNotFound, *DamagedError, replay.ErrUnknown, or one of Redis.
func (l *Log) Load(ctx context.Context, gameID string, through ID, keep int) (History, error) {
	tail, err := l.Tail(ctx, gameID)
	if err != nil {
		return History{}, err
	}
	if tail.Length == 0 && tail.Meta == (ID{}) {
		return History{}, ErrNotFound
	}
	var h History
	var missing []ID
	begin := func() {
		h = History{Tip: Tip{ID: Genesis(gameID)}}
		missing = without(ID{}, []ID{tail.Last, tail.Meta, through})
	}
	err = l.fold(ctx, gameID, begin, func(tip Tip, event *replay.Event) error {
		h.Tip = tip
		if h.Events = append(h.Events, event); len(h.Events) > keep {
			h.Events = slices.Delete(h.Events, 0, 1)
		}
		missing = without(tip.ID, missing)
		return nil
	})
	if err != nil {
		return History{}, err
	}
	if slices.Contains(missing, quarantined) {
		return History{}, &DamagedError{GameID: gameID, Version: h.Tip.ID.Version, Detail: "it was quarantined after the store went back in time"}
	}
	if len(missing) > 0 {
		return History{}, &DamagedError{GameID: gameID, Version: h.Tip.ID.Version, Detail: fmt.Sprintf("it lacks %s", missing[0])}
	}
	if tail.Length != int64(tail.Last.Version) {
		return History{}, &DamagedError{GameID: gameID, Version: h.Tip.ID.Version, Detail: fmt.Sprintf("it has %d entries", tail.Length)}
	}
	if tail.Meta != tail.Last {
		if err := l.Mend(ctx, h.Tip); err != nil {
			return History{}, err
		}
	}
	return h, nil
}

func without(id ID, ids []ID) []ID {
	return slices.DeleteFunc(ids, func(other ID) bool { return other == id })
}

// Find replays a log and returns the last event that fits, or nil.
func (l *Log) Find(ctx context.Context, gameID string, fits func(version int32, e replay.Entry) bool) (*replay.Event, error) {
	var found *replay.Event
	err := l.Replay(ctx, gameID, 0, func(e *replay.Event) error {
		if fits(e.State.Version, e.Entry) {
			found = e
		}
		return nil
	})
	return found, err
}

// Replay calls do with every event of a log after the given version, in order,
// until the log ends or do returns an error, which it returns.
//
// Errors: *DamagedError, replay.ErrUnknown, or one of Redis.
func (l *Log) Replay(ctx context.Context, gameID string, after int32, do func(*replay.Event) error) error {
	return l.fold(ctx, gameID, func() {}, func(tip Tip, event *replay.Event) error {
		if tip.ID.Version <= after {
			return nil
		}
		after = tip.ID.Version // fold may begin again.
		return do(event)
	})
}

// errBegin makes fold begin again.
var errBegin = errors.New("begin again")

// fold applies a whole log, entry by entry, and calls do with every event and
// the tip after it. It calls begin before the first one.
//
// An entry that goes back needs an earlier state. Few games have one, so states
// are kept only from when one is met: then fold begins again.
func (l *Log) fold(ctx context.Context, gameID string, begin func(), do func(Tip, *replay.Event) error) error {
	pass := func(keep bool) error {
		begin()
		var states []*replay.State
		tip := Tip{ID: Genesis(gameID)}
		past := func(version int32) (*replay.State, error) {
			if !keep {
				return nil, errBegin
			}
			return states[version-1], nil
		}
		return l.Read(ctx, gameID, 1, func(r Record) error {
			next, event, err := tip.Apply(gameID, r, past)
			if err != nil {
				return err
			}
			tip = next
			if keep {
				states = append(states, tip.State)
			}
			return do(tip, event)
		})
	}
	err := pass(false)
	if errors.Is(err, errBegin) {
		err = pass(true)
	}
	return err
}
