package sqlite

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	sqlite3 "zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"
)

// db accesses an open file through its own readers, and writes with its own priority.
// There is one db for client calls and one for background work.
type db struct {
	*file
	readers  *sqlitex.Pool
	priority int
}

// file is the state that all dbs of an open file share.
type file struct {
	path   string
	memory bool
	logger *slog.Logger
	writer *writer
	// info and wal identify the open file and its write-ahead log.
	info, wal os.FileInfo
	// reported is set after the first error about a corrupt page has been logged.
	reported atomic.Bool
	// resumed is set after the expiry of data has been resumed; see saveClock.
	resumed atomic.Bool

	clock
}

// write runs work in a transaction, and returns once the transaction is durable. The
// transaction is shared with other waiting writes. If work returns an error, all its
// writes are rolled back.
//
// If other work in the transaction fails, work may run again, so it must reset the
// variables that hold its results at the start. After an error from work, the transaction
// begins again without it, unless it is a refusal, which write returns without that wrapper.
func (d *db) write(ctx context.Context, work func(c *sqlite3.Conn) error) error {
	return d.commit(ctx, false, work)
}

// refusal is an error from work that has written nothing that must be undone, such as a limit that
// has been reached. The transaction that the work shares with other writes is committed.
type refusal struct{ error }

func (r refusal) Unwrap() error { return r.error }

// writeUnsynced is like write, but for data that may be lost if the machine loses power:
// it survives a crash of the program, but does not wait for the disk. A durable write
// also makes everything written before it durable, so this is enough for data that merely
// supports or repeats a later durable write.
func (d *db) writeUnsynced(ctx context.Context, work func(c *sqlite3.Conn) error) error {
	return d.commit(ctx, true, work)
}

// repeatUnsynced runs work in one unsynced transaction after another, until it changes fewer
// than limit rows.
func (d *db) repeatUnsynced(ctx context.Context, limit int, work func(c *sqlite3.Conn) (changed int, err error)) error {
	for changed := limit; changed == limit; {
		err := d.writeUnsynced(ctx, func(c *sqlite3.Conn) (err error) {
			changed, err = work(c)
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// change runs a statement, and reports whether it changed any row.
func (d *db) change(ctx context.Context, text string, args ...any) (changed bool, err error) {
	err = d.write(ctx, func(c *sqlite3.Conn) error {
		err := exec(c, text, args...)
		changed = c.Changes() > 0
		return err
	})
	return changed, err
}

// commit is write, or writeUnsynced if unsynced is set.
func (d *db) commit(ctx context.Context, unsynced bool, work func(c *sqlite3.Conn) error) error {
	err := d.writer.do(ctx, d.priority, unsynced, work)
	if refused, ok := errors.AsType[refusal](err); ok {
		return refused.error
	}
	return d.failed(err)
}

// read runs work in a read transaction, so that work sees a consistent snapshot. Before
// work returns, it must have run all its statements to the end or reset them, as query
// does.
func (d *db) read(ctx context.Context, work func(c *sqlite3.Conn) error) error {
	if refused := d.writer.refused.Load(); refused != nil {
		return refused
	}
	return d.failed(d.inReader(ctx, work))
}

// writeOne is like write, but returns the result of work.
func writeOne[T any](ctx context.Context, d *db, work func(c *sqlite3.Conn) (T, error)) (result T, err error) {
	err = d.write(ctx, func(c *sqlite3.Conn) (err error) {
		result, err = work(c)
		return err
	})
	return result, err
}

// readOne is like read, but returns the result of work.
func readOne[T any](ctx context.Context, d *db, work func(c *sqlite3.Conn) (T, error)) (result T, err error) {
	err = d.read(ctx, func(c *sqlite3.Conn) (err error) {
		result, err = work(c)
		return err
	})
	return result, err
}

// failed does the same as the function of that name, and also logs the first error about
// a corrupt page.
func (f *file) failed(err error) error {
	if err = failed(err); err != nil && isCorrupt(err) && f.reported.CompareAndSwap(false, true) {
		f.logger.Error("the database file is damaged", "id", "file-damaged", "file", f.path, "error", err)
	}
	return err
}

// clock follows the system's clock, but never goes back. If the system's clock is set
// back, it continues at half speed until the system's clock has caught up, so that jobs
// still become due.
type clock struct {
	system func() time.Time

	mu sync.Mutex
	// latest is the time in milliseconds that the clock returned most recently, and latestAt is the
	// system's time at that moment.
	latest   int64
	latestAt time.Time
}

// now returns the clock's time, to the millisecond.
func (c *clock) now() time.Time {
	at := c.system()
	c.mu.Lock()
	defer c.mu.Unlock()
	half := max(0, at.Sub(c.latestAt).Milliseconds()/2) // uses the monotonic clock
	if wall := at.UnixMilli(); wall > c.latest+half {
		c.latest, c.latestAt = wall, at
	} else if half > 0 {
		c.latest, c.latestAt = c.latest+half, c.latestAt.Add(time.Duration(2*half)*time.Millisecond)
	}
	return time.UnixMilli(c.latest).UTC()
}

// later returns the later of two times.
func later(a, b time.Time) time.Time {
	return slices.MaxFunc([]time.Time{a, b}, time.Time.Compare)
}
