package sqlite

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	sqlite3 "zombiezen.com/go/sqlite"

	waittest "github.com/gridstand/gridstand/internal/testkit/wait"
	"github.com/gridstand/gridstand/server/internal/store"
)

// openDB opens a store that is closed after the test, and creates a test table.
func openDB(t testing.TB, o Options) *db {
	t.Helper()
	d := openStore(t, o).Engine.(*engine).db
	if !o.Beside {
		require.NoError(t, d.write(t.Context(), func(c *sqlite3.Conn) error {
			return exec(c, "CREATE TABLE IF NOT EXISTS test (n INTEGER PRIMARY KEY) STRICT")
		}))
	}
	return d
}

func insert(ctx context.Context, d *db, n int) error {
	return d.write(ctx, func(c *sqlite3.Conn) error { return exec(c, "INSERT INTO test VALUES (?)", n) })
}

// numbers returns the first column of the rows that a query finds.
func numbers(t testing.TB, d *db, text string) (all []int) {
	t.Helper()
	require.NoError(t, d.read(t.Context(), func(c *sqlite3.Conn) error {
		all = nil
		return query(c, text, func(s *sqlite3.Stmt) {
			all = append(all, s.ColumnInt(0))
		})
	}))
	return all
}

func rows(t testing.TB, d *db) []int {
	t.Helper()
	return numbers(t, d, "SELECT n FROM test ORDER BY n")
}

// block keeps the writer busy until the returned function is called. Writes that are
// enqueued until then share one transaction.
func block(t *testing.T, d *db) (release func()) {
	t.Helper()
	running, free := make(chan struct{}), make(chan struct{})
	var group sync.WaitGroup
	group.Go(func() {
		assert.NoError(t, d.write(context.Background(), func(*sqlite3.Conn) error {
			close(running)
			<-free
			return nil
		}))
	})
	<-running
	return func() {
		close(free)
		group.Wait()
	}
}

// waiting waits until n requests are waiting for the writer.
func waiting(t *testing.T, d *db, n int) {
	t.Helper()
	waittest.Until(t, "the requests are waiting", func() bool {
		d.writer.mu.Lock()
		defer d.writer.mu.Unlock()
		return len(d.writer.waiting[forCalls]) == n
	})
}

// Ensure that work that fails or panics leaves nothing behind and does not affect other work in its
// transaction, and that a refusal is returned unwrapped and does not repeat that work.
func TestWrite_FailingWork(t *testing.T) {
	t.Parallel()
	mine := errors.New("mine")
	for name, fail := range map[string]func(c *sqlite3.Conn, n int) error{
		"failure": func(c *sqlite3.Conn, n int) error {
			if err := exec(c, "INSERT INTO test VALUES (?)", n); err != nil {
				return err
			}
			if n > 20 {
				panic(mine)
			}
			return mine
		},
		"refusal": func(*sqlite3.Conn, int) error { return refusal{mine} },
	} {
		d, runs := openDB(t, Options{Memory: true}), 0
		release := block(t, d)
		var group sync.WaitGroup
		errs := make([]error, 30)
		for n := range errs {
			group.Go(func() {
				errs[n] = d.write(t.Context(), func(c *sqlite3.Conn) error {
					if runs++; n%3 == 0 {
						return fail(c, n)
					}
					return exec(c, "INSERT INTO test VALUES (?)", n)
				})
			})
		}
		waiting(t, d, len(errs))
		release()
		group.Wait()
		var want []int
		for n, err := range errs {
			switch {
			case n%3 > 0:
				require.NoError(t, err, name)
				want = append(want, n)
			case name == "refusal":
				require.Equal(t, mine, err)
			default:
				require.ErrorContains(t, err, mine.Error())
			}
		}
		assert.Equal(t, want, rows(t, d), name)
		assert.Equal(t, name == "refusal", runs == len(errs), "%s: %d runs", name, runs)
	}
}

// Ensure that work does not run if its caller returned before the work began.
func TestWrite_DropsAbandonedWork(t *testing.T) {
	t.Parallel()
	d := openDB(t, Options{Memory: true})
	release := block(t, d)
	ctx, cancel := context.WithCancel(t.Context())
	left := make(chan error)
	go func() { left <- insert(ctx, d, 1) }()
	waiting(t, d, 1)
	cancel()
	err := <-left
	require.ErrorIs(t, err, context.Canceled)
	require.NotErrorIs(t, err, store.ErrUnsettled)
	release()
	require.NoError(t, insert(t.Context(), d, 2))
	assert.Equal(t, []int{2}, rows(t, d))
}

// Ensure that a caller whose context is done waits for work that has begun, which may use the caller's data, and
// gets the outcome.
func TestWrite_WaitsForRunningWork(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := openDB(t, Options{Memory: true})
		ctx, cancel := context.WithCancel(t.Context())
		free, left := make(chan struct{}), make(chan error, 1)
		mine := errors.New("mine")
		go func() {
			left <- d.write(ctx, func(*sqlite3.Conn) error { <-free; return mine })
		}()
		synctest.Wait()
		cancel()
		synctest.Wait()
		assert.Empty(t, left)
		close(free)
		require.ErrorIs(t, <-left, mine)
	})
}

// Ensure that the queue is bounded, and that client calls cannot crowd out background
// requests.
func TestWrite_QueueFull(t *testing.T) {
	t.Parallel()
	s := openStore(t, Options{Memory: true})
	d, background := s.Engine.(*engine).db, s.Engine.(*engine).background
	release := block(t, d)
	var group sync.WaitGroup
	nothing := func(*sqlite3.Conn) error { return nil }
	for range maxWaiting {
		group.Go(func() { assert.NoError(t, d.write(t.Context(), nothing)) })
	}
	waiting(t, d, maxWaiting)
	var failure *store.Error
	require.ErrorAs(t, d.write(t.Context(), nothing), &failure)
	assert.Equal(t, store.QueueFull, failure.Kind)
	group.Go(func() { assert.NoError(t, background.write(t.Context(), nothing)) })
	release()
	group.Wait()
}

// Ensure that canceling a context interrupts a read, that a panic ends it, and that the connection can
// be used again.
func TestRead_Interrupted(t *testing.T) {
	t.Parallel()
	d := openDB(t, Options{Memory: true})
	for range 1 + max(4, runtime.GOMAXPROCS(0)) {
		ctx, cancel := context.WithCancel(t.Context())
		err := d.read(ctx, func(c *sqlite3.Conn) error {
			return query(c, "WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i+1 FROM n) SELECT i FROM n", func(s *sqlite3.Stmt) {
				if s.ColumnInt(0) == 10 {
					cancel()
				}
			})
		})
		require.ErrorIs(t, err, context.Canceled)
		require.PanicsWithValue(t, "a bug", func() {
			_ = d.read(t.Context(), func(*sqlite3.Conn) error { panic("a bug") })
		})
		require.Empty(t, rows(t, d))
	}
}

// Ensure that a second server is rejected with an error that contains the process ID of the
// first, also if it uses a symbolic link, and that a tool can open the store while that server is running.
func TestOpen_Lock(t *testing.T) {
	t.Parallel()
	directory, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	path, link := filepath.Join(directory, "store.db"), filepath.Join(directory, "link.db")
	_ = os.Symlink(path, link) // not possible everywhere
	d := openDB(t, Options{Path: path})
	for _, path := range []string{path, link} {
		if _, err := os.Stat(path); err == nil {
			_, err = Open(Options{Path: path})
			require.ErrorIs(t, err, ErrInUse)
			require.ErrorContains(t, err, "another server is using it: process "+strconv.Itoa(os.Getpid()))
		}
	}

	tool := openDB(t, Options{Path: path, Beside: true})
	var group sync.WaitGroup
	for n := range 10 {
		group.Go(func() { assert.NoError(t, insert(t.Context(), d, 2*n)) })
		group.Go(func() { assert.NoError(t, insert(t.Context(), tool, 2*n+1)) })
	}
	group.Wait()
	assert.Len(t, rows(t, d), 20)
	assert.Equal(t, rows(t, d), rows(t, tool))
}

// Ensure that a transaction waits for the disk only if it contains a durable write.
func TestWrite_Unsynced(t *testing.T) {
	t.Parallel()
	const off, normal, full = 0, 1, 2
	for _, c := range []struct {
		options                 Options
		durable, unsynced, both int64
	}{
		{Options{Path: filepath.Join(t.TempDir(), "store.db")}, full, normal, full},
		{Options{Memory: true}, off, off, off},
	} {
		d := openDB(t, c.options)
		synchronous := func(n *int64) func(conn *sqlite3.Conn) error {
			return func(conn *sqlite3.Conn) (err error) {
				*n, err = number(conn, "PRAGMA synchronous")
				return err
			}
		}
		var first, second int64
		for range 2 {
			require.NoError(t, d.write(t.Context(), synchronous(&first)))
			require.NoError(t, d.writeUnsynced(t.Context(), synchronous(&second)))
			assert.Equal(t, [2]int64{c.durable, c.unsynced}, [2]int64{first, second})
		}
		release := block(t, d)
		var group sync.WaitGroup
		group.Go(func() { assert.NoError(t, d.writeUnsynced(t.Context(), synchronous(&first))) })
		group.Go(func() { assert.NoError(t, d.write(t.Context(), synchronous(&second))) })
		waiting(t, d, 2)
		release()
		group.Wait()
		assert.Equal(t, [2]int64{c.both, c.both}, [2]int64{first, second})
	}
}

// Ensure that a durable request that arrives after the decision not to sync does not
// become part of the unsynced transaction.
func TestWriter_Take(t *testing.T) {
	t.Parallel()
	ask := func(unsynced bool) *request { return &request{unsynced: unsynced} }
	w := &writer{}
	a, b, c, d := ask(true), ask(true), ask(false), ask(true)
	w.waiting[forBackground] = []*request{a}
	w.waiting[forCalls] = []*request{b}
	durable, _ := w.await()
	require.False(t, durable)
	w.waiting[forCalls] = append(w.waiting[forCalls], c, d)
	assert.Equal(t, []*request{a, b}, w.take(false))
	durable, _ = w.await()
	require.True(t, durable)
	assert.Equal(t, []*request{c, d}, w.take(true))
	w.closed = true
	_, ended := w.await()
	assert.True(t, ended, "no request is waiting")
}

// Ensure that a write that does not fit on the disk fails, that the store has everything that was written before,
// and that later writes succeed once there is space.
func TestWriter_FullDisk(t *testing.T) {
	t.Parallel()
	d := openDB(t, Options{Memory: true})
	require.NoError(t, insert(t.Context(), d, 1))
	limit := func(pages string) {
		require.NoError(t, d.write(t.Context(), func(c *sqlite3.Conn) error {
			return exec(c, "PRAGMA max_page_count = "+pages)
		}))
	}
	large := func() error {
		return d.write(t.Context(), func(c *sqlite3.Conn) error {
			return exec(c, "INSERT INTO secrets VALUES ('large', zeroblob(1000000))")
		})
	}
	limit("1") // SQLite raises this to the current number of pages.
	for range 2 {
		var full *store.Error
		require.ErrorAs(t, large(), &full)
		assert.Equal(t, store.Full, full.Kind)
		assert.Equal(t, []int{1}, rows(t, d))
	}
	limit("1000000000")
	require.NoError(t, large())
	require.NoError(t, insert(t.Context(), d, 2))
	assert.Equal(t, []int{1, 2}, rows(t, d))
}
