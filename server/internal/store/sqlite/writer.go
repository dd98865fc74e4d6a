package sqlite

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"slices"
	"sync"
	"sync/atomic"

	sqlite3 "zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"

	"github.com/gridstand/gridstand/server/internal/store"
)

// writer is the single goroutine that writes to the file. It commits all waiting requests
// in one transaction, so that many calls share one disk sync.
type writer struct {
	conn *sqlite3.Conn

	mu      sync.Mutex
	waiting [priorities][]*request
	closed  bool
	wake    sync.Cond     // signaled for each request that begins to wait, and when closed is set
	stopped chan struct{} // closed when the goroutine has exited
	ran     chan struct{} // closed before the commit, once all work of the batch that take returned has run

	// syncs reports whether commits currently wait for the disk. If never is set, no
	// commit waits.
	syncs, never bool
	// suspect reports whether a sync has failed; see repair. Only the goroutine uses it.
	suspect bool

	// written is the number of requests since the last call of tendLog, and grown reports whether the
	// length of the write-ahead log was logged. Only the goroutine uses them; see tendLog.
	written int
	grown   bool

	logger *slog.Logger

	// refused is the error that reads and writes currently return, or nil if they are
	// accepted.
	refused atomic.Pointer[store.Error]
}

// These are the priorities of requests. Background requests, such as heartbeats, do not
// wait behind client calls, and are not rejected when too many client calls are waiting.
const (
	forBackground = iota
	forCalls
	priorities
)

const (
	// maxWaiting is the maximum number of waiting requests of each priority.
	maxWaiting = 8192
	// maxBatch is the maximum number of requests of each priority in a transaction.
	maxBatch = 1024
)

// request is a piece of work for the writer.
type request struct {
	work func(c *sqlite3.Conn) error
	// unsynced reports whether the request may complete before its writes are on the
	// disk.
	unsynced bool
	ran      chan struct{} // the writer's, set when the request is taken off its queue
	err      error
	done     chan struct{} // receives a value when err is final; buffered
}

var errClosed = &store.Error{Kind: store.Connection, Err: errors.New("the store is closed")}

// newWriter starts a writer that uses c. Its commits are durable unless volatile is set.
func newWriter(c *sqlite3.Conn, volatile bool, logger *slog.Logger) *writer {
	w := &writer{
		conn: c, syncs: !volatile, never: volatile, logger: logger,
		stopped: make(chan struct{}),
	}
	w.wake.L = &w.mu
	go w.run()
	return w
}

// close makes the writer reject new requests, and waits until its goroutine has executed
// all waiting requests and exited.
func (w *writer) close() {
	w.mu.Lock()
	w.closed = true
	w.mu.Unlock()
	w.wake.Signal()
	<-w.stopped
}

// do runs work in a transaction, and returns once the transaction is durable, or committed
// if unsynced is set. If ctx is done before the work has begun, the work is dropped; if ctx
// expires or is canceled during the commit, the error is store.ErrUnsettled.
func (w *writer) do(ctx context.Context, priority int, unsynced bool, work func(c *sqlite3.Conn) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if refused := w.refused.Load(); refused != nil {
		return refused
	}
	r := &request{work: work, unsynced: unsynced, done: make(chan struct{}, 1)}
	w.mu.Lock()
	full := len(w.waiting[priority]) >= maxWaiting
	closed := w.closed
	if !full && !closed {
		w.waiting[priority] = append(w.waiting[priority], r)
	}
	w.mu.Unlock()
	if closed {
		return errClosed
	}
	if full {
		return store.Failed(store.QueueFull, "%d writes are waiting for the disk", maxWaiting)
	}
	w.wake.Signal()

	select {
	case <-r.done:
		return r.err
	case <-ctx.Done():
		return w.leave(ctx, r, priority)
	}
}

// leave removes a request from its queue or, if its work has begun, waits until that can no longer use
// the caller's data. It returns store.ErrUnsettled if the outcome is still unknown then.
func (w *writer) leave(ctx context.Context, r *request, priority int) error {
	w.mu.Lock()
	queue := w.waiting[priority]
	at := slices.Index(queue, r)
	if at >= 0 {
		w.waiting[priority] = slices.Delete(queue, at, at+1)
	}
	w.mu.Unlock()
	if at >= 0 {
		return ctx.Err()
	}
	select {
	case <-r.done:
		return r.err
	case <-r.ran:
	}
	select {
	case <-r.done:
		return r.err
	default:
		return unsettled(ctx.Err())
	}
}

// unsettled wraps an error as a *store.Error that is also store.ErrUnsettled.
func unsettled(err error) error {
	kind := store.Timeout
	if failure, ok := errors.AsType[*store.Error](err); ok {
		kind = failure.Kind
	}
	return &store.Error{Kind: kind, Err: fmt.Errorf("%w: %w", store.ErrUnsettled, err)}
}

func (w *writer) run() {
	defer close(w.stopped)
	for {
		durable, ended := w.await()
		if ended {
			return
		}
		w.transact(durable)
	}
}

// await waits for requests, and reports whether any of them must be durable before it completes. If
// there are none and the writer rejects new ones, ended is set.
func (w *writer) await() (durable, ended bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for len(w.waiting[forBackground])+len(w.waiting[forCalls]) == 0 {
		if w.closed {
			return false, true
		}
		w.wake.Wait()
	}
	for _, queue := range w.waiting {
		durable = durable || slices.ContainsFunc(queue, func(r *request) bool { return !r.unsynced })
	}
	return durable, false
}

// sync sets whether the next commits wait for the disk. A commit that waits for the disk
// also makes all earlier ones durable, because the write-ahead log is a single file.
func (w *writer) sync(durable bool) error {
	if w.never || w.syncs == durable {
		return nil
	}
	pragma := "PRAGMA synchronous = NORMAL"
	if durable {
		pragma = "PRAGMA synchronous = FULL"
	}
	// The pragma takes effect when it is prepared, so it has to be prepared each time.
	err := sqlitex.ExecuteTransient(w.conn, pragma, nil)
	if err == nil {
		w.syncs = durable
	}
	return err
}

// repair checkpoints the database and starts a new log after a sync has failed. The log may lack
// pages that were written before, and the next sync would succeed regardless, because the system
// reports an error only once. Data after such a gap would be lost in a power failure.
func (w *writer) repair() error {
	blocked, err := number(w.conn, "PRAGMA wal_checkpoint(TRUNCATE)")
	switch {
	case err != nil:
		return err
	case blocked != 0:
		return store.Failed(store.Timeout, "the disk failed, and a long read prevents earlier writes from being repeated")
	}
	w.suspect = false
	return nil
}

// take removes up to maxBatch requests of each priority from the queues. If durable is not set, it
// stops at requests that must be durable.
func (w *writer) take(durable bool) (batch []*request) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.ran = make(chan struct{})
	for p, queue := range w.waiting {
		n := min(len(queue), maxBatch)
		for i, r := range queue[:n] {
			if !durable && !r.unsynced {
				n = i
				break
			}
			r.ran = w.ran
			batch = append(batch, r)
		}
		w.waiting[p] = slices.Delete(queue, 0, n)
	}
	return batch
}

// transact executes waiting requests, only unsynced ones unless durable is set. It takes them off
// the queues only once the transaction has begun. That may take a while if another process is
// writing; until then, callers can return early.
func (w *writer) transact(durable bool) {
	var err error
	if w.suspect {
		err = w.repair()
	}
	if err == nil {
		err = w.sync(durable)
	}
	if err == nil {
		err = exec(w.conn, "BEGIN IMMEDIATE")
	}
	batch := w.take(durable)
	if err != nil {
		w.settle(batch, err)
		return
	}
	w.finish(batch)
	if w.written += len(batch); w.written >= tendEvery {
		w.written = 0
		w.tendLog()
	}
}

// finish runs the work of a batch in the open transaction, and ends the transaction. If
// some work fails, finish begins again without it. A refusal is not a failure, because there
// is nothing to undo.
//
// With a savepoint for each piece of work, no work would run twice. But savepoints
// would make all work 20% slower, and after an error from a corrupt page SQLite can only
// roll back the transaction.
func (w *writer) finish(batch []*request) {
	for {
		bad := slices.IndexFunc(batch, func(r *request) bool {
			r.err = r.run(w.conn)
			_, refused := errors.AsType[refusal](r.err)
			return r.err != nil && !refused
		})
		if bad < 0 {
			w.commit(batch)
			return
		}
		ended := w.conn.AutocommitEnabled() // SQLite ended the transaction, because the disk is full or failed
		w.rollback()
		if ended {
			w.settle(batch, batch[bad].err)
			return
		}
		w.settle(batch[bad:bad+1], nil)
		if batch = slices.Delete(batch, bad, bad+1); len(batch) == 0 {
			return
		}
		if err := exec(w.conn, "BEGIN IMMEDIATE"); err != nil {
			w.settle(batch, err)
			return
		}
	}
}

// run runs the work. It turns a panic into an error, so that a panic fails one call, as
// it would in the caller's goroutine, instead of crashing the program.
func (r *request) run(c *sqlite3.Conn) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic while writing: %v\n%s", p, debug.Stack())
		}
	}()
	return r.work(c)
}

// commit commits the writes of a batch.
func (w *writer) commit(batch []*request) {
	close(w.ran)
	err := exec(w.conn, "COMMIT")
	switch {
	case err == nil:
	case sqlite3.ErrCode(err).ToPrimary() == sqlite3.ResultFull:
		w.rollback() // the frame that would make the commit valid was not written
	default:
		w.suspect = w.suspect || sqlite3.ErrCode(err) == sqlite3.ResultIOErrFsync
		w.rollback()
		err = unsettled(failed(err))
	}
	w.settle(batch, err)
}

// settle reports the outcome to the callers: err, or the error from their own work if err
// is nil.
func (w *writer) settle(batch []*request, err error) {
	for _, r := range batch {
		if err != nil {
			r.err = err
		}
		r.done <- struct{}{}
	}
}

// rollback rolls back the transaction, unless SQLite has already done so.
func (w *writer) rollback() {
	if !w.conn.AutocommitEnabled() {
		_ = exec(w.conn, "ROLLBACK") // fails only if there is no transaction
	}
}
