package sqlite

import (
	"context"

	sqlite3 "zombiezen.com/go/sqlite"
)

// readers is a pool of read-only connections. Each read sees the data committed before it
// began. Readers and the writer do not wait for each other.
type readers struct {
	open func() (*sqlite3.Conn, error)
	free chan *reader // unused readers; they connect on first use
}

type reader struct {
	conn *sqlite3.Conn // nil before the first use
	// Closing interrupt interrupts the connection's statements.
	interrupt chan struct{}
}

func newReaders(n int, open func() (*sqlite3.Conn, error)) *readers {
	p := &readers{open: open, free: make(chan *reader, n)}
	for range n {
		p.free <- &reader{}
	}
	return p
}

// close closes the connections, after waiting for those that are in use.
func (p *readers) close() (err error) {
	for range cap(p.free) {
		if r := <-p.free; r.conn != nil {
			if e := r.conn.Close(); err == nil {
				err = e
			}
		}
	}
	close(p.free)
	return err
}

// do runs work in a read transaction.
func (p *readers) do(ctx context.Context, work func(c *sqlite3.Conn) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	var r *reader
	select {
	case r = <-p.free:
	case <-ctx.Done():
		return ctx.Err()
	}
	if r == nil {
		return errClosed
	}
	defer func() { p.free <- r }()
	if r.conn == nil {
		c, err := p.open()
		if err != nil {
			return err
		}
		r.conn, r.interrupt = c, make(chan struct{})
		c.SetInterrupt(r.interrupt)
	}
	interrupt := r.interrupt
	stop := context.AfterFunc(ctx, func() { close(interrupt) })
	panicked := true
	defer func() {
		if panicked { // The transaction is still open. The next read connects again.
			_ = r.conn.Close()
			r.conn = nil
		}
	}()
	err := r.transact(work)
	panicked = false
	if !stop() {
		<-interrupt
		r.interrupt = make(chan struct{})
		r.conn.SetInterrupt(r.interrupt) // also resets the statements
		if !r.conn.AutocommitEnabled() {
			_ = exec(r.conn, "ROLLBACK") // fails only if there is no transaction
		}
		if sqlite3.ErrCode(err) == sqlite3.ResultInterrupt {
			return ctx.Err()
		}
	}
	return err
}

func (r *reader) transact(work func(c *sqlite3.Conn) error) error {
	if err := exec(r.conn, "BEGIN"); err != nil {
		return err
	}
	err := work(r.conn)
	if e := exec(r.conn, "ROLLBACK"); err == nil {
		err = e
	}
	return err
}
