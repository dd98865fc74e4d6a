package gamelog

import (
	"context"
	"errors"
	"fmt"

	"github.com/gridstand/gridstand/game/replay"
	"github.com/gridstand/gridstand/server/internal/store"
)

// Reader reads the events of a game's log page by page, at the caller's pace. It keeps only the
// state after the last event, and the states to which later entries revert the game. Few games
// have entries that revert them, so a Reader does not keep any states until it finds one. It then
// reads the log again.
type Reader struct {
	log    *Log
	gameID string
	tip    Tip
	// reverts maps the versions to which the game is reverted to the last version that does so, and
	// kept holds the states at those versions, each until its last use. Both are unset until the
	// reader finds an entry that reverts the game.
	reverts map[int32]int32
	kept    map[int32]*replay.State
}

// NewReader returns a Reader of a game's log, from its first entry.
func (l *Log) NewReader(gameID string) *Reader {
	return &Reader{log: l, gameID: gameID, tip: GenesisTip(gameID)}
}

// Skip reads all events up to the given version without returning them.
//
// Errors: *DamagedError, replay.ErrUnknown, or an error from the store.
func (r *Reader) Skip(ctx context.Context, version int32) error {
	for left := version - r.tip.ID.Version; left > 0; left = version - r.tip.ID.Version {
		read, err := r.Next(ctx, int(min(left, pageSize)), func(*replay.Event) error { return nil })
		if err != nil || read == 0 {
			return err
		}
	}
	return nil
}

// Next calls do with up to n further events, in one of the slots for pages of history, and returns
// their number. It is 0 at the end of the log. Its errors are those of Skip, and the one that do returns
// to stop it.
func (r *Reader) Next(ctx context.Context, n int, do func(*replay.Event) error) (read int, err error) {
	for {
		applied, err := r.page(ctx, n-read, do)
		if read += applied; !errors.Is(err, errNoPast) {
			return read, err
		}
		if err := r.restart(ctx); err != nil {
			return read, err
		}
	}
}

// page calls do with the next events up to an entry that cannot be applied, and returns the reason
// for that.
func (r *Reader) page(ctx context.Context, n int, do func(*replay.Event) error) (read int, err error) {
	records, unread := r.log.page(ctx, r.gameID, r.tip.ID.Version+1, n)
	err = r.log.each(ctx, records, func(record store.Record) error {
		next, event, err := r.tip.Apply(r.gameID, record, func(version int32) *replay.State { return r.kept[version] })
		if err != nil {
			return err
		}
		r.tip = next
		version := next.ID.Version
		if undone, ok := event.Entry.Action.(replay.Undone); ok && r.reverts[undone.To] == version {
			delete(r.kept, undone.To)
		}
		if r.reverts[version] > version {
			r.kept[version] = next.State
		}
		read++
		return do(event)
	})
	if err == nil {
		err = unread
	}
	return read, err
}

// restart reads the log again up to the current entry, and keeps the states that later entries need.
func (r *Reader) restart(ctx context.Context) error {
	last := r.tip.ID
	if err := r.findReverts(ctx); err != nil {
		return err
	}
	r.tip, r.kept = GenesisTip(r.gameID), map[int32]*replay.State{}
	if err := r.Skip(ctx, last.Version); err != nil || r.tip.ID == last {
		return err
	}
	return &DamagedError{GameID: r.gameID, Version: r.tip.ID.Version, Detail: fmt.Sprintf("entry %s is missing", last)}
}

// findReverts reads the log to find the entries that revert the game. It ignores entries that cannot
// be read or decoded, which page reports.
func (r *Reader) findReverts(ctx context.Context) error {
	r.reverts = map[int32]int32{}
	for from := int32(1); ; from += pageSize {
		records, err := r.log.page(ctx, r.gameID, from, pageSize)
		if _, damaged := errors.AsType[*DamagedError](err); err != nil && !damaged {
			return err
		}
		err = r.log.each(ctx, records, func(record store.Record) error {
			entry, err := EntryOf(record)
			if undone, ok := entry.Action.(replay.Undone); ok && err == nil {
				r.reverts[undone.To] = record.ID.Version
			}
			return nil
		})
		if err != nil || len(records) < pageSize {
			return err
		}
	}
}
