package gamelog

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/gridstand/gridstand/game/replay"
	"github.com/gridstand/gridstand/server/internal/store"
)

// History is a game as read from its log.
type History struct {
	Tip Tip
	// Events are the latest ones.
	Events []*replay.Event
}

// Load reads and checks a whole log, and returns its latest events. The log must hold
// the entry through, unless that is zero. A head that fell behind its log is mended.
//
// Errors: ErrNotFound, *DamagedError, replay.ErrUnknown, or one of the store.
func (l *Log) Load(ctx context.Context, gameID string, through store.ID, keep int) (History, error) {
	tail, err := l.Tail(ctx, gameID)
	if err != nil {
		return History{}, err
	}
	if tail.Length == 0 && tail.Head == (store.ID{}) {
		return History{}, ErrNotFound
	}
	var h History
	var missing []store.ID
	begin := func() {
		h = History{Tip: Tip{ID: Genesis(gameID)}}
		missing = without(store.ID{}, []store.ID{tail.Last, tail.Head, through})
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
	if slices.Contains(missing, store.Quarantined) {
		return History{}, &DamagedError{GameID: gameID, Version: h.Tip.ID.Version, Detail: "it was quarantined after the store went back in time"}
	}
	if len(missing) > 0 {
		return History{}, &DamagedError{GameID: gameID, Version: h.Tip.ID.Version, Detail: fmt.Sprintf("it lacks %s", missing[0])}
	}
	if tail.Length != int64(tail.Last.Version) {
		return History{}, &DamagedError{GameID: gameID, Version: h.Tip.ID.Version, Detail: fmt.Sprintf("it has %d entries", tail.Length)}
	}
	if tail.Head != tail.Last {
		if err := l.Mend(ctx, h.Tip); err != nil {
			return History{}, err
		}
	}
	return h, nil
}

func without(id store.ID, ids []store.ID) []store.ID {
	return slices.DeleteFunc(ids, func(other store.ID) bool { return other == id })
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
// Errors: *DamagedError, replay.ErrUnknown, or one of the store.
func (l *Log) Replay(ctx context.Context, gameID string, after int32, do func(*replay.Event) error) error {
	return l.fold(ctx, gameID, func() {}, func(tip Tip, event *replay.Event) error {
		if tip.ID.Version <= after {
			return nil
		}
		after = tip.ID.Version // in case fold starts again
		return do(event)
	})
}

// errRestart makes fold start again.
var errRestart = errors.New("restart")

// fold applies a whole log, entry by entry, and calls do with every event and the tip
// after it. It calls begin before the first one.
//
// An entry that goes back needs an earlier state. Few games have such an entry, so
// fold keeps no states until it finds one; then it starts again, and keeps them.
func (l *Log) fold(ctx context.Context, gameID string, begin func(), do func(Tip, *replay.Event) error) error {
	pass := func(keep bool) error {
		begin()
		var states []*replay.State
		tip := Tip{ID: Genesis(gameID)}
		past := func(version int32) (*replay.State, error) {
			if !keep {
				return nil, errRestart
			}
			return states[version-1], nil
		}
		return l.Read(ctx, gameID, 1, func(r store.Record) error {
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
	if errors.Is(err, errRestart) {
		err = pass(true)
	}
	return err
}
