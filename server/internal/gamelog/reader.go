package gamelog

import (
	"context"
	"errors"

	"github.com/gridstand/gridstand/game/replay"
	"github.com/gridstand/gridstand/server/internal/store"
)

// Reader reads the events of a game's log page by page, at the caller's pace. It keeps only the
// state after the last event, and the states to which later entries revert the game.
type Reader struct {
	log    *Log
	gameID string
	tip    Tip
	// reverts and kept are unset until the reader finds an entry that reverts the game.
	reverts reverts
	kept    map[int32]*replay.State
}

// NewReader returns a Reader of a game's log, from its first entry.
func (l *Log) NewReader(gameID string) *Reader {
	return &Reader{log: l, gameID: gameID, tip: Tip{ID: Genesis(gameID)}}
}

// Skip reads all events up to the given version without returning them.
//
// Errors: *DamagedError, replay.ErrUnknown, or an error from the store.
func (r *Reader) Skip(ctx context.Context, version int32) error {
	for left := version - r.tip.ID.Version; left > 0; left = version - r.tip.ID.Version {
		read, err := r.Next(ctx, int(min(left, pageSize)), func(*replay.Event) {})
		if err != nil || read == 0 {
			return err
		}
	}
	return nil
}

// Next calls do with up to n further events, in one of the slots for pages of history, and returns
// their number. It is 0 at the end of the log. Its errors are those of Skip.
func (r *Reader) Next(ctx context.Context, n int, do func(*replay.Event)) (read int, err error) {
	read, err = r.page(ctx, n, do)
	if !errors.Is(err, errReverted) {
		return read, err
	}
	if read > 0 {
		return read, nil
	}
	if err := r.restart(ctx); err != nil {
		return 0, err
	}
	return r.page(ctx, n, do)
}

// page calls do with the next events up to an entry that cannot be applied, and returns the reason
// for that.
func (r *Reader) page(ctx context.Context, n int, do func(*replay.Event)) (read int, err error) {
	records, unread := r.log.page(ctx, r.gameID, r.tip.ID.Version+1, n)
	err = r.log.each(ctx, records, func(record store.Record) error {
		next, event, err := r.tip.Apply(r.gameID, record, r.past)
		if err != nil {
			return err
		}
		r.tip = next
		version := next.ID.Version
		if undone, ok := event.Entry.Action.(replay.Undone); ok && r.reverts.last[undone.To] == version {
			delete(r.kept, undone.To)
		}
		if r.reverts.last[version] > version {
			r.kept[version] = next.State
		}
		read++
		do(event)
		return nil
	})
	if err == nil {
		err = unread
	}
	return read, err
}

// restart reads the log again up to the current version, and keeps the states that later entries need.
func (r *Reader) restart(ctx context.Context) error {
	version := r.tip.ID.Version
	r.reverts, r.kept = r.log.findReverts(ctx, r.gameID), map[int32]*replay.State{}
	if r.reverts.err != nil {
		return r.reverts.err
	}
	r.tip = Tip{ID: Genesis(r.gameID)}
	for r.tip.ID.Version < version {
		if _, err := r.page(ctx, int(min(version-r.tip.ID.Version, pageSize)), func(*replay.Event) {}); err != nil {
			return err
		}
	}
	return nil
}

// past returns an earlier state to which an entry reverts the game.
func (r *Reader) past(version int32) (*replay.State, error) {
	if state := r.kept[version]; state != nil {
		return state, nil
	}
	return nil, errReverted
}
