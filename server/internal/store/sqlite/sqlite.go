// Package sqlite implements the store in a file, for one server: an SQLite database with
// a write-ahead log. One goroutine does all writes, and commits all waiting ones in one
// transaction. Reads have their own connections and never wait for the writer.
//
// While a process has a store open, no other code in it may open and close the store's
// files: that would release the locks that SQLite holds on them (POSIX fcntl locks).
package sqlite

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"time"

	sqlite3 "zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"

	"github.com/gridstand/gridstand/server/internal/store"
)

// Options specify which store to open, and how.
type Options struct {
	// Path is the path of the file. The file and its directory are created if missing.
	Path string
	// Memory opens an empty store in a temporary directory instead of Path. Close removes
	// it; if the process is killed, it stays. Its files are not synced to disk.
	Memory bool
	// Beside opens an existing file without taking the server's lock, so that a tool can
	// use it while a server is running.
	Beside bool
	// Now returns the current time. The default is time.Now.
	Now func() time.Time
	// Logger, if not nil, receives messages for the operator.
	Logger *slog.Logger
}

// Open opens a store, which the caller must close. It may raise GOMAXPROCS, see spareProcessor.
func Open(o Options) (_ *store.Store, err error) {
	e := &engine{}
	defer func() {
		if err != nil {
			_ = e.Close()
		}
	}()
	if o.Memory {
		if e.temporary, err = os.MkdirTemp("", "gridstand-memory-"); err != nil {
			return nil, fmt.Errorf("opening a store in memory: %w", err)
		}
		o.Path, o.Beside = filepath.Join(e.temporary, "store.db"), false
	}
	defer func() {
		if err != nil {
			err = failed(fmt.Errorf("opening %s: %w", o.Path, explain(err)))
		}
	}()
	if o.Path, err = realPath(o.Path); err != nil {
		return nil, err
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Beside {
		err = checkBeside(o.Path)
	} else {
		err = e.prepare(o.Path, o.Logger)
	}
	if err != nil {
		return nil, err
	}
	for _, n := range []int{max(4, runtime.GOMAXPROCS(0)), 2} { // for calls and for background work
		readers, err := newReaders(o.Path, n)
		if err != nil {
			return nil, err
		}
		e.readers = append(e.readers, readers)
	}
	f, err := e.openFile(o)
	if err != nil {
		return nil, err
	}
	engines.mu.Lock()
	engines.files[e] = f.info
	engines.mu.Unlock()
	e.db, e.background = &db{f, e.readers[0], forCalls}, &db{f, e.readers[1], forBackground}

	// SQLite opens a file without write permission as read-only, so try to write. Other
	// disk errors may be temporary.
	var failure *store.Error
	if err := e.background.saveClock(context.Background()); errors.As(err, &failure) && failure.Kind == store.ReadOnly && !o.Beside {
		return nil, err
	}
	e.feed = newFeed()
	s := ports(e, e.db)
	s.Background = ports(e, e.background)
	return s, nil
}

// prepare locks the file at path for a server, and creates it if it is missing. It changes nothing
// if the file is not a store.
func (e *engine) prepare(path string, logger *slog.Logger) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	if _, locked := opened(path); locked {
		return fmt.Errorf("%w: process %d", ErrInUse, os.Getpid())
	}
	var err error
	if e.data, err = look(path, os.O_RDWR); err != nil {
		return err
	}
	if e.lock, err = acquire(path + lockSuffix); err != nil {
		return err
	}
	if err := checkLog(path, e.data); err != nil {
		return err
	}
	if _, err := os.Stat(path + restoringSuffix); err == nil && isEmpty(e.data) {
		return fmt.Errorf("it was not restored completely: run \"gridstand-server restore\" again, or delete %s", path+restoringSuffix)
	}
	if e.data != nil {
		restrict(e.data)
	} else if e.data, err = os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600); err != nil {
		return err
	}
	if isEmpty(e.data) && e.lock.used {
		logger.Warn("the database file was missing or empty and is now new, but the lock file next to it says that there was one: "+
			"to keep the earlier games, stop the server and put that file or a backup in its place", "id", "file-missing", "file", path)
	}
	if err := lockData(e.data); errors.Is(err, errHeld) {
		return errOtherName
	} else if err != nil {
		return fmt.Errorf("locking %s: %w", path, err)
	}
	return nil
}

// isEmpty reports whether f, which may be nil, is missing or empty.
func isEmpty(f *os.File) bool {
	if f == nil {
		return true
	}
	info, err := f.Stat()
	return err == nil && info.Size() == 0
}

// openFile opens an existing file for writing, and upgrades its schema unless a server may be using it.
func (e *engine) openFile(o Options) (_ *file, err error) {
	conn, err := connect(o.Path, sqlite3.OpenReadWrite, func(c *sqlite3.Conn) error { return configureWriter(c, o.Memory) })
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, conn.Close())
		}
	}()
	if o.Beside {
		err = requireLatest(conn)
	} else {
		err = upgrade(conn, upgrades)
	}
	if err != nil {
		return nil, err
	}
	latest, err := number(conn, "SELECT time FROM clock")
	if err != nil {
		return nil, err
	}
	now := o.Now()
	f := &file{path: o.Path, memory: o.Memory, logger: o.Logger, clock: clock{system: o.Now, latest: latest, latestAt: now}}
	if ahead := time.UnixMilli(latest).Sub(now); ahead > maxAhead && !o.Beside {
		o.Logger.Warn("the file's clock is ahead of the system's clock and runs at half speed until that has caught up",
			"id", "clock-ahead", "file", o.Path, "ahead", ahead.Round(time.Second))
	}
	if f.info, err = os.Stat(f.path); err != nil {
		return nil, err
	}
	if f.wal, err = os.Stat(f.path + walSuffix); err != nil {
		return nil, err
	}
	if !o.Memory {
		spareProcessor()
	}
	f.writer = newWriter(conn, o.Memory, o.Logger)
	return f, nil
}

// maxAhead is how far the store's clock may be ahead of the system's clock, which may have been set
// back, without a warning.
const maxAhead = time.Minute

// spareProcessor raises GOMAXPROCS to 2 on a machine with one processor, unless the operator has
// set it. The writer spends most of its time in system calls that wait for the disk. Go's scheduler
// may take milliseconds to notice such a call, and with GOMAXPROCS=1 no other goroutine runs until
// then: 500 players made 2,300 moves a second instead of 5,100.
func spareProcessor() {
	if runtime.GOMAXPROCS(0) == 1 && os.Getenv("GOMAXPROCS") == "" {
		runtime.GOMAXPROCS(2)
	}
}

// ports returns the store's interfaces, implemented using d.
func ports(e *engine, d *db) *store.Store {
	return &store.Store{
		Engine:      e,
		Games:       games{d, e.feed},
		Feed:        e.feed,
		Queue:       queue{d},
		Heartbeats:  heartbeats{d},
		Accounts:    accounts{d},
		Keys:        keys{accounts{d}},
		Sessions:    sessions{accounts{d}},
		Credentials: credentials{d},
		Challenges:  challenges{d},
		Profiles:    profiles{d},
		Secrets:     secrets{d},
		Lists:       lists{d},
		Dumper:      dumper{d},
		Boards:      newBoards(d),
	}
}

// realPath returns the absolute path of a file with all symbolic links resolved, because
// the lock file and the write-ahead log are named after the path. The file need not
// exist. If it is not a regular file, or a symbolic link to nothing, realPath returns its
// path and an error: SQLite would wait for the other end of a named pipe forever.
func realPath(path string) (string, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	if resolved, err := filepath.EvalSymlinks(path); err == nil {
		path = resolved
	}
	switch info, err := os.Stat(path); {
	case err != nil:
		if _, err := os.Readlink(path); err == nil {
			return path, errors.New("it is a symbolic link to a file that does not exist")
		}
		return path, nil // The file does not exist yet, or opening it reports the error.
	case info.IsDir():
		return path, errors.New("it is a directory; add a file name")
	case !info.Mode().IsRegular():
		return path, errors.New("it is not a regular file")
	}
	return path, nil
}

// restrict takes away the permissions of users who are neither the file's owner nor in its group, which a
// file that cp has restored may have: it contains the seeds of games. SQLite gives the same permissions to the
// files that it creates next to it.
func restrict(f *os.File) {
	const others = 0o007
	if info, err := f.Stat(); err == nil && info.Mode().Perm()&others != 0 {
		_ = f.Chmod(info.Mode().Perm() &^ others) // Only the owner can do this.
	}
}

// busyTimeout is how long to wait for another process's write.
const busyTimeout = 10 * time.Second

// connectReader opens a connection that only reads.
func connectReader(path string) (*sqlite3.Conn, error) {
	return connect(path, sqlite3.OpenReadOnly, configure)
}

// configure sets up a connection. mmap_size stays 0: with mmap, a disk error would raise a
// signal that kills the process.
func configure(c *sqlite3.Conn) error {
	c.SetBusyTimeout(busyTimeout)
	return setPragmas(c, "cache_size = -8192", "temp_store = MEMORY")
}

func connect(path string, flags sqlite3.OpenFlags, configure func(*sqlite3.Conn) error) (*sqlite3.Conn, error) {
	c, err := sqlite3.OpenConn(path, flags)
	if err != nil {
		return nil, err
	}
	if err := configure(c); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

func setPragmas(c *sqlite3.Conn, pragmas ...string) error {
	for _, pragma := range pragmas {
		if _, err := number(c, "PRAGMA "+pragma); err != nil {
			return fmt.Errorf("PRAGMA %s: %w", pragma, err)
		}
	}
	return nil
}

// configureWriter sets up the connection that writes.
func configureWriter(c *sqlite3.Conn, memory bool) error {
	synchronous := "synchronous = FULL"
	if memory {
		synchronous = "synchronous = OFF"
	}
	if err := configure(c); err != nil {
		return err
	}
	err := setPragmas(c, synchronous,
		"fullfsync = ON", "checkpoint_fullfsync = ON", // for macOS, where fsync does not reach the disk
		"cache_size = -65536",
		"wal_autocheckpoint = 0", // see tendLog
		fmt.Sprintf("journal_size_limit = %d", logLimit),
	)
	if err != nil {
		return err
	}
	// This comes last, because creating the write-ahead log syncs the file, too.
	mode, _, err := one(c, "PRAGMA journal_mode = WAL", firstText)
	if err == nil && mode != "wal" {
		err = fmt.Errorf("the file system does not support a write-ahead log (journal mode %s)", mode)
	}
	return err
}

// engine implements store.Engine for an open file, and has the resources that are released together
// with it.
type engine struct {
	readers        []*sqlitex.Pool
	db, background *db
	feed           *feed
	lock           *lockFile // nil if opened beside a server
	data           *os.File  // the database while lock is held; opened before SQLite opens it and closed after
	temporary      string    // temporary directory, "" if none
}

func (e *engine) Name() string {
	if e.db.memory {
		return "memory"
	}
	return "sqlite:" + e.db.path
}

func (e *engine) Shared() bool { return false }

func (e *engine) Time(context.Context) (time.Time, error) {
	return e.db.now(), nil
}

// Close implements store.Engine. The connection that is closed last moves the write-ahead
// log into the database.
func (e *engine) Close() error {
	var errs []error
	if e.db != nil {
		errs = append(errs, e.background.saveClock(context.Background()))
	}
	for _, readers := range e.readers {
		errs = append(errs, readers.Close())
	}
	if e.db != nil {
		e.db.writer.close()
		if e.lock != nil && !e.db.memory {
			errs = append(errs, e.db.emptyLog())
		}
		errs = append(errs, e.db.writer.conn.Close())
		engines.mu.Lock()
		delete(engines.files, e)
		engines.mu.Unlock()
	}
	if e.data != nil {
		unlockData(e.data)
		errs = append(errs, e.data.Close())
	}
	if e.lock != nil {
		errs = append(errs, e.lock.Close())
	}
	if e.temporary != "" {
		errs = append(errs, os.RemoveAll(e.temporary))
	}
	return errors.Join(errs...)
}
