package sqlite

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"sync"
	"time"

	sqlite3 "zombiezen.com/go/sqlite"

	"github.com/gridstand/gridstand/server/internal/store"
)

// db is the file as the ports use it: one for calls and one for the background, with
// readers of its own and a priority at the writer.
type db struct {
	*file
	readers  *readers
	priority int
}

// file is what all users of an open file share.
type file struct {
	path   string
	memory bool
	logger *slog.Logger
	writer *writer
	// run names this opening of the file.
	run string
	// opened are the files that are open, with their names, to notice if others take their
	// place.
	opened [len(parts)]struct {
		name string
		info os.FileInfo
	}
	// damaged are games that sweep cannot remove, by their keys. It alone uses it.
	damaged map[int64]bool

	wall  func() time.Time
	clock clock
}

// write runs work in a transaction and returns when that is durable. The transaction
// is shared with other writes that wait. If work returns an error, nothing that it did
// remains.
//
// Work may run twice: when other work in the transaction failed after it. So it must set
// what it returns through captured variables anew each time. An error of work costs a
// transaction of its own: what is no failure, such as a limit that is reached, should
// be a captured result instead, as long as nothing was written.
//
// Under the ctx that store.Entry.Then gets, work runs in the transaction of the append.
func (d *db) write(ctx context.Context, work func(c *sqlite3.Conn) error) error {
	return d.commit(ctx, work, nil)
}

// commit is write, and calls after following the commit, in the order of commits,
// unless it is nil.
func (d *db) commit(ctx context.Context, work func(c *sqlite3.Conn) error, after func()) error {
	if t := transactionOf(ctx); t != nil {
		return t.run(work)
	}
	return failed(d.writer.do(ctx, d.priority, work, after))
}

// writeUnsynced is write for what may be lost if the machine loses power: it outlives
// the program, but does not wait for the disk. What is durable is never without what
// was written before it, so this is enough for all that is derived from, or only
// repeats, what a later write makes durable.
func (d *db) writeUnsynced(ctx context.Context, work func(c *sqlite3.Conn) error) error {
	if t := transactionOf(ctx); t != nil {
		return t.run(work)
	}
	return failed(d.writer.enqueue(ctx, d.priority, true, work, nil))
}

// read runs work in a read transaction: all of it sees one moment. Work must read, or
// reset, all statements to their end, as query does.
func (d *db) read(ctx context.Context, work func(c *sqlite3.Conn) error) error {
	if t := transactionOf(ctx); t != nil {
		return t.run(work)
	}
	if refused := d.writer.refused.Load(); refused != nil {
		return refused
	}
	return failed(d.readers.do(ctx, work))
}

// transaction is what the context of store.Entry.Then holds.
type transaction struct {
	conn *sqlite3.Conn // nil after Then
}

type transactionKey struct{}

func transactionOf(ctx context.Context) *transaction {
	t, _ := ctx.Value(transactionKey{}).(*transaction)
	return t
}

func (t *transaction) run(work func(c *sqlite3.Conn) error) error {
	if t.conn == nil {
		return errors.New("the transaction of this context has ended")
	}
	return failed(work(t.conn))
}

// then calls a function with a context whose reads and writes are part of the
// transaction on c.
func then(ctx context.Context, c *sqlite3.Conn, do func(ctx context.Context) error) error {
	t := &transaction{c}
	defer func() { t.conn = nil }()
	return do(context.WithValue(ctx, transactionKey{}, t))
}

// now is the store's clock in milliseconds.
func (f *file) now() int64 { return f.clock.at(f.wall()) }

// clock follows the system's clock, but does not go back: if that is set back, it goes
// on at half of the speed until the system's clock has caught up, so that what is due
// still becomes due.
type clock struct {
	mu sync.Mutex
	// time is what the clock showed last, when the system's clock was read as read.
	time int64
	read time.Time
}

// at returns the clock's time when the system's clock shows now.
func (c *clock) at(now time.Time) int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	half := max(0, now.Sub(c.read).Milliseconds()/2) // by the monotonic clock
	if wall := now.UnixMilli(); wall > c.time+half {
		c.time, c.read = wall, now
	} else if half > 0 {
		c.time, c.read = c.time+half, c.read.Add(time.Duration(2*half)*time.Millisecond)
	}
	return c.time
}

// parts are how the names of the files of a database end.
var parts = [...]string{"", "-wal", "-shm"}

// identify notes which files are open.
func (f *file) identify() (err error) {
	for i, part := range parts {
		f.opened[i].name = f.path + part
		if f.opened[i].info, err = os.Stat(f.opened[i].name); err != nil {
			return err
		}
	}
	return nil
}

// verify returns an error, and has all later calls refused, while one of the open files
// is not the one of its name: what is written to a file that was deleted or replaced is
// gone with the process, and must not be acknowledged because a call reads it there.
func (f *file) verify() error {
	var refused *store.Error
	for _, opened := range f.opened {
		now, err := os.Stat(opened.name)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			refused = &store.Error{Kind: store.Corrupt, Err: fmt.Errorf("%s was deleted while the server runs; nothing is read or written until it is back", opened.name)}
		case err == nil && !os.SameFile(opened.info, now):
			refused = &store.Error{Kind: store.Corrupt, Err: fmt.Errorf("%s was replaced while the server runs; nothing is read or written until the file is back, or the server is restarted", opened.name)}
		}
	}
	f.writer.refused.Store(refused)
	if refused != nil {
		return refused
	}
	return nil
}
