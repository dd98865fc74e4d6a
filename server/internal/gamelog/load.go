package gamelog

import (
	"context"
	"fmt"
	"slices"

	"github.com/gridstand/gridstand/game/replay"
	"github.com/gridstand/gridstand/server/internal/store"
)

// Load reads and checks a game's whole log, calls do with each event unless do is nil, and returns
// the log's end. Unless through is zero, the log must contain the entry whose ID is through. Load
// repairs a head that fell behind its log.
//
// Errors: ErrNotFound, *DamagedError, replay.ErrUnknown, or an error from the store.
func (l *Log) Load(ctx context.Context, gameID string, through store.ID, do func(*replay.Event)) (Tip, error) {
	tail, err := l.Tail(ctx, gameID)
	if err != nil {
		return Tip{}, err
	}
	if tail.Length == 0 && tail.Head == (store.ID{}) {
		return Tip{}, ErrNotFound
	}
	end := GenesisTip(gameID)
	missing := without(store.ID{}, []store.ID{tail.Last, tail.Head, through})
	err = l.Replay(ctx, gameID, end, func(tip Tip, event *replay.Event) error {
		end, missing = tip, without(tip.ID, missing)
		if do != nil {
			do(event)
		}
		return nil
	})
	if err != nil {
		return Tip{}, err
	}
	if slices.Contains(missing, store.Quarantined) {
		return Tip{}, &DamagedError{
			GameID: gameID, Version: end.ID.Version, Quarantined: true,
			Detail: "it was quarantined because its log may lack entries",
		}
	}
	if len(missing) > 0 {
		return Tip{}, &DamagedError{GameID: gameID, Version: end.ID.Version, Detail: fmt.Sprintf("entry %s is missing", missing[0])}
	}
	if tail.Length != int64(tail.Last.Version) {
		return Tip{}, &DamagedError{GameID: gameID, Version: end.ID.Version, Detail: fmt.Sprintf("it has %d entries", tail.Length)}
	}
	if tail.Head != tail.Last {
		if err := l.mend(ctx, tail.Head, end); err != nil {
			return Tip{}, err
		}
	}
	return end, nil
}

func without(id store.ID, ids []store.ID) []store.ID {
	return slices.DeleteFunc(ids, func(other store.ID) bool { return other == id })
}

// Find replays a game's log and returns the last event for which fits returns true, or nil if
// no event fits.
func (l *Log) Find(ctx context.Context, gameID string, fits func(version int32, e replay.Entry) bool) (*replay.Event, error) {
	var found *replay.Event
	err := l.Replay(ctx, gameID, GenesisTip(gameID), func(_ Tip, e *replay.Event) error {
		if fits(e.State.Version, e.Entry) {
			found = e
		}
		return nil
	})
	return found, err
}

// Replay calls do with every event of a game's log that follows the given tip, in order, and the tip
// after it. If do returns an error, Replay stops and returns it.
//
// Errors: *DamagedError, replay.ErrUnknown, or an error from the store.
func (l *Log) Replay(ctx context.Context, gameID string, from Tip, do func(Tip, *replay.Event) error) error {
	r := &Reader{log: l, gameID: gameID, tip: from}
	for {
		read, err := r.Next(ctx, pageSize, func(event *replay.Event) error { return do(r.tip, event) })
		if err != nil || read < pageSize {
			return err
		}
	}
}
