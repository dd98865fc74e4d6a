package gamelog

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/gridstand/gridstand/game/replay"
	"github.com/gridstand/gridstand/server/internal/store"
)

// History is the result of reading a game's log.
type History struct {
	Tip Tip
	// Events are the latest events.
	Events []*replay.Event
}

// Load reads and checks a game's whole log, and returns up to keep of the latest events.
// Unless through is zero, the log must contain the entry whose ID is through. Load repairs
// a head that fell behind its log.
//
// Errors: ErrNotFound, *DamagedError, replay.ErrUnknown, or an error from the store.
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
		return History{}, &DamagedError{GameID: gameID, Version: h.Tip.ID.Version, Quarantined: true, Detail: "it was quarantined because its log may lack entries"}
	}
	if len(missing) > 0 {
		return History{}, &DamagedError{GameID: gameID, Version: h.Tip.ID.Version, Detail: fmt.Sprintf("entry %s is missing", missing[0])}
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

// Find replays a game's log and returns the last event for which fits returns true, or nil if
// no event fits.
func (l *Log) Find(ctx context.Context, gameID string, fits func(version int32, e replay.Entry) bool) (*replay.Event, error) {
	var found *replay.Event
	err := l.Replay(ctx, gameID, 0, func(_ Tip, e *replay.Event) error {
		if fits(e.State.Version, e.Entry) {
			found = e
		}
		return nil
	})
	return found, err
}

// Replay calls do with every event of a game's log that comes after the given version, in
// order, and the tip after it. If do returns an error, Replay stops and returns it.
//
// Errors: *DamagedError, replay.ErrUnknown, or an error from the store.
func (l *Log) Replay(ctx context.Context, gameID string, after int32, do func(Tip, *replay.Event) error) error {
	return l.fold(ctx, gameID, func() {}, func(tip Tip, event *replay.Event) error {
		if tip.ID.Version <= after {
			return nil
		}
		after = tip.ID.Version // to skip these events if fold restarts
		return do(tip, event)
	})
}

// errReverted means that an entry reverts the game to an earlier version.
var errReverted = errors.New("the game was reverted")

// fold applies a whole log, entry by entry, and calls do with every event and the tip after
// it. It calls begin before the first event.
//
// An entry that reverts to an earlier version needs the state at that version. Few games have
// such an entry, so fold does not keep any states until it finds one. It then restarts.
func (l *Log) fold(ctx context.Context, gameID string, begin func(), do func(Tip, *replay.Event) error) error {
	begin()
	err := l.pass(ctx, gameID, do, func(int32) (*replay.State, error) { return nil, errReverted })
	if errors.Is(err, errReverted) {
		begin()
		err = l.passReverted(ctx, gameID, l.findReverts(ctx, gameID), do)
	}
	return err
}

// reverts are the entries that revert a game.
type reverts struct {
	last map[int32]int32 // by version: the last version that reverts to it
	end  int32           // the log was read up to this version
	err  error           // why it was not read further; nil at its end
}

// findReverts reads a game's log to find the entries that revert the game.
func (l *Log) findReverts(ctx context.Context, gameID string) reverts {
	r := reverts{last: map[int32]int32{}}
	r.err = l.Read(ctx, gameID, 1, func(record store.Record) error {
		r.end = record.ID.Version
		entry, err := EntryOf(record)
		if undone, ok := entry.Action.(replay.Undone); ok && err == nil {
			r.last[undone.To] = r.end
		}
		return nil // pass reports an entry that cannot be decoded.
	})
	return r
}

// passReverted is pass for a log with entries that revert the game. It keeps only the states to
// which they revert, each until its last use.
func (l *Log) passReverted(ctx context.Context, gameID string, reverts reverts, do func(Tip, *replay.Event) error) error {
	kept := map[int32]*replay.State{}
	past := func(version int32) (*replay.State, error) { return kept[version], nil }
	err := l.pass(ctx, gameID, func(tip Tip, event *replay.Event) error {
		version := tip.ID.Version
		if undone, ok := event.Entry.Action.(replay.Undone); ok && reverts.last[undone.To] == version {
			delete(kept, undone.To)
		}
		if reverts.last[version] > version {
			kept[version] = tip.State
		}
		if err := do(tip, event); err != nil || version < reverts.end {
			return err
		}
		return errEnd // Later entries may revert to a state that was not kept.
	}, past)
	if errors.Is(err, errEnd) {
		return reverts.err
	}
	return cmp.Or(err, reverts.err)
}

// errEnd makes pass end.
var errEnd = errors.New("end")

// pass applies a whole log. It calls past for the state to which an entry reverts the game.
func (l *Log) pass(ctx context.Context, gameID string, do func(Tip, *replay.Event) error, past Past) error {
	tip := Tip{ID: Genesis(gameID)}
	return l.Read(ctx, gameID, 1, func(r store.Record) error {
		next, event, err := tip.Apply(gameID, r, past)
		if err != nil {
			return err
		}
		tip = next
		return do(tip, event)
	})
}
