package sqlite

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"
)

// ErrInUse means that another server is using the store's file.
var ErrInUse = errors.New("another server is using it")

// errOtherName means that a server has locked the file, but not by this name: the write-ahead log
// would be another one.
var errOtherName = fmt.Errorf("%w by another name, such as a hard link; stop it first", ErrInUse)

// errHeld means that another process holds a lock.
var errHeld = errors.New("held by another process")

// lockFile is a file next to the database, locked by the server that uses the database. The server
// also locks the database itself (see lockData), because a file may have several names; earlier
// versions of the program lock only this file. Its content is the server's process ID; earlier
// versions of the program add a second line.
type lockFile struct {
	*os.File
	// used reports whether the file had content, so that a server has used the database before.
	used bool
}

// engines holds the files that this process has open as stores, and whether it has locked them.
// Closing another descriptor of such a file would release SQLite's locks on it.
var engines = struct {
	mu    sync.Mutex
	files map[*engine]os.FileInfo
}{files: map[*engine]os.FileInfo{}}

// opened reports whether this process has the file at path open as a store, by whatever name, and
// whether it has locked it.
func opened(path string) (found, locked bool) {
	engines.mu.Lock()
	defer engines.mu.Unlock()
	info, err := os.Stat(path)
	for e, used := range engines.files {
		if err == nil && os.SameFile(info, used) {
			found, locked = true, locked || e.lock != nil
		}
	}
	return found, locked
}

// Close releases the lock. Closing the file is not enough: if this process is starting a
// child process at that moment, the child inherits the open file until it executes its
// own program.
func (f *lockFile) Close() error {
	return errors.Join(unlock(f.File), f.File.Close())
}

// lockSuffix is appended to a database's name to form the name of its lockFile.
const lockSuffix = ".lock"

// acquire locks a file. The lock is released when the process ends, even if it crashes.
func acquire(path string) (*lockFile, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	if err := lock(f); err != nil {
		var pid int
		_, unreadable := fmt.Fscan(f, &pid)
		_ = f.Close()
		if !errors.Is(err, errHeld) {
			return nil, fmt.Errorf("locking %s: %w", path, err)
		}
		if unreadable == nil {
			return nil, fmt.Errorf("%w: process %d; stop it first", ErrInUse, pid)
		}
		return nil, fmt.Errorf("%w; stop it first", ErrInUse)
	}
	info, err := f.Stat()
	// The process ID is only for the operator; the lock works without it.
	_ = f.Truncate(0)
	_, _ = f.WriteAt(fmt.Appendln(nil, os.Getpid()), 0)
	return &lockFile{f, err == nil && info.Size() > 0}, nil
}

// checkBeside is like look and checkLog, but for a process that does not hold the lock.
func checkBeside(path string) error {
	if found, _ := opened(path); found {
		return nil // This process has already checked the file.
	}
	data, err := look(path, os.O_RDONLY)
	if err != nil {
		return err
	}
	if data != nil {
		defer func() { _ = data.Close() }()
		if _, err := os.Stat(path + shmSuffix); errors.Is(err, fs.ErrNotExist) && isDataLocked(data) {
			return errOtherName
		}
	}
	return checkLog(path, data)
}
