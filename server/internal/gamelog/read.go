package gamelog

import (
	"context"
	"errors"

	"github.com/gridstand/gridstand/game/replay"
	"github.com/gridstand/gridstand/server/internal/store"
)

// EntryOf decodes the entry of r. The error is replay.ErrUnknown or replay.ErrInvalid.
func EntryOf(r store.Record) (replay.Entry, error) { return decodeEntry(r.Raw) }

// pageSize is the number of entries per read, small enough not to block other users of the
// store for long.
const pageSize = 500

// each calls do with each record of a page, in one of the slots for that. If do returns an error, each
// stops and returns it. do must not read a log.
func (l *Log) each(ctx context.Context, page []store.Record, do func(store.Record) error) error {
	if err := l.applying.Acquire(ctx, 1); err != nil {
		return err
	}
	defer l.applying.Release(1)
	for _, r := range page {
		if err := do(r); err != nil {
			return err
		}
	}
	return nil
}

// At returns the record with the given version, and reports whether the log contains it.
func (l *Log) At(ctx context.Context, gameID string, version int32) (store.Record, bool, error) {
	records, err := l.page(ctx, gameID, version, 1)
	if err != nil || len(records) == 0 || records[0].ID.Version != version {
		return store.Record{}, false, err
	}
	return records[0], true, nil
}

// page is like store.Games.Entries but returns a *DamagedError if an entry cannot be read.
func (l *Log) page(ctx context.Context, gameID string, from int32, n int) ([]store.Record, error) {
	records, err := l.Entries(ctx, gameID, from, n)
	if corrupt, ok := errors.AsType[*store.CorruptError](err); ok {
		err = &DamagedError{GameID: gameID, Version: corrupt.Version, Detail: corrupt.Err.Error()}
	}
	return records, err
}
