package sqlite

import (
	"cmp"
	"context"

	sqlite3 "zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"
)

// newReaders returns a pool of n read-only connections. Each read sees the data committed
// before it began. Readers and the writer do not wait for each other.
func newReaders(path string, n int) (*sqlitex.Pool, error) {
	return sqlitex.NewPool(path, sqlitex.PoolOptions{Flags: sqlite3.OpenReadOnly, PoolSize: n, PrepareConn: configure})
}

// inReader runs work in a read transaction. If ctx is done, it interrupts work.
func (d *db) inReader(ctx context.Context, work func(c *sqlite3.Conn) error) (err error) {
	c, err := d.readers.Take(ctx)
	if err != nil {
		return cmp.Or(ctx.Err(), err)
	}
	defer func() {
		c.SetInterrupt(nil)     // also resets the statements, some of which an error or a panic may have left unfinished
		_ = exec(c, "ROLLBACK") // fails only if there is no transaction
		d.readers.Put(c)
		if sqlite3.ErrCode(err) == sqlite3.ResultInterrupt {
			err = cmp.Or(ctx.Err(), err)
		}
	}()
	if err := exec(c, "BEGIN"); err != nil {
		return err
	}
	return work(c)
}
