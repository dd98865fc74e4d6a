package sqlite

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
	"sync/atomic"

	sqlite3 "zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"

	"github.com/gridstand/gridstand/server/internal/store"
)

// writer is the one goroutine that writes to the file. It commits what waits in one
// transaction, so that many calls share one sync of the disk.
type writer struct {
	conn *sqlite3.Conn

	mu      sync.Mutex
	waiting [priorities][]*request
	closed  bool
	wake    chan struct{} // holds one value if something waits
	stopped chan struct{} // closed when the goroutine has ended

	// batch and after belong to the goroutine, which reuses them.
	batch []*request
	after []func()
	// syncs is whether the connection waits for the disk at a commit, and never that
	// it must not at any.
	syncs, never bool
	// suspect is whether a sync failed: see repair. It belongs to the goroutine, too.
	suspect bool

	// verify returns why what is committed is not in the file of that name.
	verify func() error

	// refused is why nothing is read or written now, nil if it is.
	refused atomic.Pointer[store.Error]
	// failing is the error of the last commit, nil if it succeeded.
	failing atomic.Pointer[store.Error]
}

// The priorities of requests: those of the background, such as heartbeats, must not
// wait behind the calls of clients, and are not refused because those are too many.
const (
	forBackground = iota
	forCalls
	priorities
)

const (
	// maxWaiting is how many requests of a priority may wait.
	maxWaiting = 8192
	// maxBatch is how many requests of a priority one transaction takes.
	maxBatch = 1024
)

// request is a piece of work for the writer.
type request struct {
	work func(c *sqlite3.Conn) error
	// after is called after a successful commit, in the order of the work, if not nil.
	after func()
	// unsynced work need not be on the disk when it is done.
	unsynced bool
	// stage changes from queued to running and committing in the writer, or to
	// dropped and leaving in the caller, when its context ends.
	stage atomic.Int32
	// told is whether the caller, who is leaving, was told that the work is over.
	told bool
	err  error
	done chan struct{} // gets a value when err is final; has room for it
}

const (
	queued     int32 = iota
	dropped          // the caller has left; the work must not run
	running          // the work uses what belongs to the caller
	leaving          // the caller wants to know when the work is over, but not wait for the commit
	committing       // the caller may leave
)

var requests = sync.Pool{New: func() any { return &request{done: make(chan struct{}, 1)} }}

var errClosed = &store.Error{Kind: store.Connection, Err: errors.New("the store is closed")}

// newWriter starts a writer on a connection, which commits durably unless volatile is
// set. It calls verify before and after each commit.
func newWriter(c *sqlite3.Conn, volatile bool, verify func() error) *writer {
	w := &writer{conn: c, syncs: !volatile, never: volatile, verify: verify, wake: make(chan struct{}, 1), stopped: make(chan struct{})}
	go w.run()
	return w
}

// close ends the goroutine after what waits, and waits for it.
func (w *writer) close() {
	w.mu.Lock()
	w.closed = true
	w.mu.Unlock()
	w.nudge()
	<-w.stopped
}

func (w *writer) nudge() {
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// do has work run in a transaction, and returns when that is durable. If ctx ends
// before the work began it is dropped; if ctx ends during the commit, the error is
// store.ErrUnsettled.
func (w *writer) do(ctx context.Context, priority int, work func(c *sqlite3.Conn) error, after func()) error {
	return w.enqueue(ctx, priority, false, work, after)
}

// enqueue is do for work that is unsynced or not.
func (w *writer) enqueue(ctx context.Context, priority int, unsynced bool, work func(c *sqlite3.Conn) error, after func()) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if refused := w.refused.Load(); refused != nil {
		return refused
	}
	r := requests.Get().(*request)
	r.work, r.after, r.unsynced, r.told, r.err = work, after, unsynced, false, nil
	r.stage.Store(queued)

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
		return store.Failed(store.QueueFull, "%d writes wait for the disk", maxWaiting)
	}
	w.nudge()

	select {
	case <-r.done:
		err := r.err
		r.work, r.after = nil, nil
		requests.Put(r)
		return err
	case <-ctx.Done():
		return r.leave(ctx)
	}
}

// leave returns as soon as the work does not run, and will not run any more.
func (r *request) leave(ctx context.Context) error {
	if r.stage.CompareAndSwap(queued, dropped) {
		return ctx.Err()
	}
	if r.stage.CompareAndSwap(running, leaving) {
		<-r.done
		return unsettled(ctx.Err())
	}
	select {
	case <-r.done:
		return r.err
	default:
		return unsettled(ctx.Err())
	}
}

// unsettled says that the outcome of a commit is not known.
func unsettled(err error) error {
	kind := store.Timeout
	var failure *store.Error
	if errors.As(err, &failure) {
		kind = failure.Kind
	}
	return &store.Error{Kind: kind, Err: fmt.Errorf("%w: %w", store.ErrUnsettled, err)}
}

func (w *writer) run() {
	defer close(w.stopped)
	for range w.wake {
		for w.some() {
			w.transact()
		}
		if w.ended() {
			return
		}
	}
}

func (w *writer) some() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.waiting[forBackground]) > 0 || len(w.waiting[forCalls]) > 0
}

func (w *writer) ended() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.closed && len(w.waiting[forBackground]) == 0 && len(w.waiting[forCalls]) == 0
}

// durable reports whether anything waits that must be durable when it is done.
func (w *writer) durable() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, queue := range w.waiting {
		for _, r := range queue {
			if !r.unsynced {
				return true
			}
		}
	}
	return false
}

// sync has the next commits wait for the disk, or not. A commit that does makes those
// before it durable too, since the write-ahead log is one file.
func (w *writer) sync(durable bool) error {
	if w.never || w.syncs == durable {
		return nil
	}
	pragma := "PRAGMA synchronous = NORMAL"
	if durable {
		pragma = "PRAGMA synchronous = FULL"
	}
	// It takes effect when it is prepared, so it must be each time.
	err := sqlitex.ExecuteTransient(w.conn, pragma, nil)
	if err == nil {
		w.syncs = durable
	}
	return err
}

// repair has the database hold all that was committed, if a sync failed. After that the
// write-ahead log may have lost pages that were written before, and another sync would
// succeed: the system reports an error once. What is behind such a gap would be lost if
// the machine loses power, so the next transaction begins a new log.
func (w *writer) repair() error {
	if !w.suspect {
		return nil
	}
	blocked, err := number(w.conn, "PRAGMA wal_checkpoint(TRUNCATE)")
	switch {
	case err != nil:
		return err
	case blocked != 0:
		return store.Failed(store.Timeout, "the disk failed, and a long read keeps what was written before from being written again")
	}
	w.suspect = false
	return nil
}

// take takes what waits off the queues, but for what was dropped, and stops at what
// must be durable if the transaction will not be.
func (w *writer) take(durable bool) []*request {
	w.mu.Lock()
	defer w.mu.Unlock()
	clear(w.batch)
	w.batch = w.batch[:0]
	for p, queue := range w.waiting {
		n := min(len(queue), maxBatch)
		for i, r := range queue[:n] {
			if !durable && !r.unsynced {
				n = i
				break
			}
			if r.stage.CompareAndSwap(queued, running) {
				w.batch = append(w.batch, r)
			}
		}
		rest := copy(queue, queue[n:])
		clear(queue[rest:])
		w.waiting[p] = queue[:rest]
	}
	return w.batch
}

// transact carries out what waits. The requests are taken after the transaction has
// begun: until then, which may take a while if another process writes, callers can
// leave.
func (w *writer) transact() {
	durable := w.durable()
	err := w.repair()
	if err == nil {
		err = w.sync(durable)
	}
	if err == nil {
		err = exec(w.conn, "BEGIN IMMEDIATE")
	}
	batch := w.take(durable)
	if err != nil {
		w.settle(batch, failed(err))
		return
	}
	w.finish(batch)
}

// finish runs the work of a batch in the open transaction, and ends that. If some work
// fails, what ran before it is committed, and a new transaction follows for the rest.
//
// With a savepoint for each piece of work less would run twice. But all work would cost
// a fifth more, and after an error of a corrupt page SQLite can only end the
// transaction.
func (w *writer) finish(batch []*request) {
	for {
		failing := w.runUntilError(batch)
		if failing < 0 {
			w.commit(batch)
			return
		}
		gone := w.conn.AutocommitEnabled() // SQLite ended it: the disk is full, or broken
		w.rollback()
		if gone {
			w.settle(batch, failed(batch[failing].err))
			return
		}
		if failing > 0 {
			if err := exec(w.conn, "BEGIN IMMEDIATE"); err != nil {
				w.settle(batch, failed(err))
				return
			}
			w.finish(batch[:failing])
		}
		w.settle(batch[failing:failing+1], nil)
		if batch = batch[failing+1:]; len(batch) == 0 {
			return
		}
		if err := exec(w.conn, "BEGIN IMMEDIATE"); err != nil {
			w.settle(batch, failed(err))
			return
		}
	}
}

// runUntilError runs the work of a batch, and returns the index of what failed, −1 for
// none.
func (w *writer) runUntilError(batch []*request) int {
	for i, r := range batch {
		if r.err = r.run(w.conn); r.err != nil {
			return i
		}
	}
	return -1
}

// run runs the work. A panic there must not end the program, as it does not in the
// caller's goroutine.
func (r *request) run(c *sqlite3.Conn) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic while writing: %v\n%s", p, debug.Stack())
		}
	}()
	return r.work(c)
}

// commit commits what a batch has written, unless the files are gone.
func (w *writer) commit(batch []*request) {
	if err := w.verify(); err != nil {
		w.rollback()
		w.settle(batch, err)
		return
	}
	// From here on a caller may leave: no work uses what is the caller's.
	for _, r := range batch {
		w.after = append(w.after, r.after)
		if !r.stage.CompareAndSwap(running, committing) {
			r.told = true
			r.done <- struct{}{}
		}
	}
	err := exec(w.conn, "COMMIT")
	switch {
	case err == nil:
		if gone := w.verify(); gone != nil {
			err = unsettled(gone) // it is there if the files come back
			break
		}
		w.failing.Store(nil)
		for _, after := range w.after {
			if after != nil {
				after()
			}
		}
	case sqlite3.ErrCode(err).ToPrimary() == sqlite3.ResultFull:
		w.rollback() // the frame that would have made it valid was not written
		err = failed(err)
	default:
		w.suspect = w.suspect || sqlite3.ErrCode(err) == sqlite3.ResultIOErrFsync
		w.rollback()
		err = unsettled(failed(err))
	}
	clear(w.after)
	w.after = w.after[:0]
	w.settle(batch, err)
}

// settle tells the callers what became of their work: err, or the error of the work
// if that is nil.
func (w *writer) settle(batch []*request, err error) {
	var failure *store.Error
	if errors.As(err, &failure) {
		w.failing.Store(failure)
	}
	for _, r := range batch {
		if r.told {
			continue
		}
		if err != nil {
			r.err = err
		}
		r.done <- struct{}{}
	}
}

// rollback ends a transaction, unless SQLite has ended it already.
func (w *writer) rollback() {
	if !w.conn.AutocommitEnabled() {
		_ = exec(w.conn, "ROLLBACK") // fails only if there is no transaction
	}
}
