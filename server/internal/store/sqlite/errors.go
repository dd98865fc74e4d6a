package sqlite

import (
	"context"
	"errors"
	"fmt"

	sqlite3 "zombiezen.com/go/sqlite"

	"github.com/gridstand/gridstand/server/internal/store"
)

// diskError is the Kind for errors from the disk or the file system.
const diskError store.Kind = "disk"

// failed wraps an error from SQLite as a *store.Error. It returns all other errors
// unchanged.
func failed(err error) error {
	if err == nil || errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) {
		return err
	}
	if _, already := errors.AsType[*store.Error](err); already {
		return err
	}
	var kind store.Kind
	switch sqlite3.ErrCode(err).ToPrimary() {
	case sqlite3.ResultFull:
		kind = store.Full
	case sqlite3.ResultReadOnly, sqlite3.ResultPerm:
		kind = store.ReadOnly
	case sqlite3.ResultCorrupt, sqlite3.ResultNotADB:
		kind = store.Corrupt
	case sqlite3.ResultBusy, sqlite3.ResultLocked:
		kind = store.Timeout
	case sqlite3.ResultIOErr, sqlite3.ResultCantOpen, sqlite3.ResultNoMem:
		kind = diskError
	default:
		return err // a bug in this package or in the caller
	}
	return &store.Error{Kind: kind, Err: err}
}

// explain adds to an error from opening a file what to do.
func explain(err error) error {
	if isCorrupt(err) {
		return fmt.Errorf("it is damaged, or is not a file of Gridstand; restore a backup, or name another file (%w)", err)
	}
	switch sqlite3.ErrCode(err).ToPrimary() {
	case sqlite3.ResultCantOpen, sqlite3.ResultReadOnly:
		return fmt.Errorf("your user must be able to write it, and to create files next to it (%w)", err)
	case sqlite3.ResultBusy:
		return fmt.Errorf("another program, such as sqlite3 with an open transaction, has locked it; "+
			"end that program (%w)", err)
	}
	return err
}
