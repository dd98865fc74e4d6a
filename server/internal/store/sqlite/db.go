package sqlite

import (
	"context"
	"errors"
	"log/slog"
	"sync/atomic"
	"time"

	sqlite3 "zombiezen.com/go/sqlite"
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
	wall   func() time.Time
	latest atomic.Int64 // of now, in milliseconds
}

// write runs work in a transaction and returns when that is durable. The transaction
// is shared with other writes that wait. If work returns an error, nothing that it did
// remains.
//
// Work may run more than once: when another one in the transaction failed, all others
// are run again. So it must set what it returns through captured variables anew each
// time. That costs time: what is no failure, such as a limit that is reached, should
// not be an error of work but a captured result, as long as nothing was written.
//
// Under the ctx that store.Entry.Then gets, work runs in the transaction of the append.
func (d *db) write(ctx context.Context, work func(c *sqlite3.Conn) error) error {
	if t := transactionOf(ctx); t != nil {
		return t.run(work)
	}
	return failed(d.writer.do(ctx, d.priority, work, nil))
}

// read runs work in a read transaction: all of it sees one moment. Work must read, or
// reset, all statements to their end, as query does.
func (d *db) read(ctx context.Context, work func(c *sqlite3.Conn) error) error {
	if t := transactionOf(ctx); t != nil {
		return t.run(work)
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

// now is the store's clock in milliseconds. It does not go back, but stands still if
// the system's clock goes back.
func (f *file) now() int64 {
	now := f.wall().UnixMilli()
	for {
		latest := f.latest.Load()
		if now <= latest {
			return latest
		}
		if f.latest.CompareAndSwap(latest, now) {
			return now
		}
	}
}
