package gamelog

import (
	"context"
	"errors"

	"github.com/gridstand/gridstand/game/replay"
	"github.com/gridstand/gridstand/server/internal/store"
)

// EntryOf decodes what was done. The error is replay.ErrUnknown or ErrInvalid.
func EntryOf(r store.Record) (replay.Entry, error) { return decodeEntry(r.Raw) }

// pageSize is how many entries of a log one read takes: few enough that others do not
// wait long for the store.
const pageSize = 500

// Read calls do with each entry of a log from version from on, in order, until
// the log ends or do returns an error, which it returns.
func (l *Log) Read(ctx context.Context, gameID string, from int32, do func(store.Record) error) error {
	for {
		records, err := l.page(ctx, gameID, from, pageSize)
		for _, r := range records {
			if err := do(r); err != nil {
				return err
			}
			from = r.ID.Version + 1
		}
		if err != nil || len(records) < pageSize {
			return err
		}
	}
}

// After calls do with up to n events that follow t, and the tip after each. The
// error is one of Tip.Apply or the store.
func (l *Log) After(ctx context.Context, gameID string, t Tip, n int, past Past, do func(Tip, *replay.Event)) error {
	records, err := l.page(ctx, gameID, t.ID.Version+1, n)
	for _, r := range records {
		next, event, err := t.Apply(gameID, r, past)
		if err != nil {
			return err
		}
		t = next
		do(next, event)
	}
	return err
}

// At returns the entry at a version, false for none.
func (l *Log) At(ctx context.Context, gameID string, version int32) (store.Record, bool, error) {
	records, err := l.page(ctx, gameID, version, 1)
	if err != nil || len(records) == 0 || records[0].ID.Version != version {
		return store.Record{}, false, err
	}
	return records[0], true, nil
}

// page is Entries with a *DamagedError for an entry that cannot be read.
func (l *Log) page(ctx context.Context, gameID string, from int32, n int) ([]store.Record, error) {
	records, err := l.Entries(ctx, gameID, from, n)
	var corrupt *store.CorruptError
	if errors.As(err, &corrupt) {
		err = &DamagedError{GameID: gameID, Version: corrupt.Version, Detail: corrupt.Err.Error()}
	}
	return records, err
}
