package sqlite

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
)

// ErrInUse means that a server uses a store's file.
var ErrInUse = errors.New("another server uses it")

// errHeld means that another process holds a lock.
var errHeld = errors.New("held by another process")

// lockFile is a file beside the database that is locked by the server that uses it.
// It holds the server's process id.
type lockFile struct{ *os.File }

// Close ends the lock. Closing the file alone does not if this process is starting
// another one, which has the file too until it runs its own program.
func (f lockFile) Close() error { return errors.Join(unlock(f.File), f.File.Close()) }

// lockSuffix is how the name of the lockFile of a database ends.
const lockSuffix = ".lock"

// acquire locks a file. The lock ends with the process, however that ends.
func acquire(path string) (io.Closer, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	if err := lock(f); err != nil {
		holder, _ := io.ReadAll(io.LimitReader(f, 20))
		_ = f.Close()
		if !errors.Is(err, errHeld) {
			return nil, fmt.Errorf("locking %s: %w", path, err)
		}
		if pid, err := strconv.Atoi(strings.TrimSpace(string(holder))); err == nil {
			return nil, fmt.Errorf("%w: process %d", ErrInUse, pid)
		}
		return nil, ErrInUse
	}
	// The number is for people. Without it the lock still works.
	if err := f.Truncate(0); err == nil {
		_, _ = f.WriteAt([]byte(strconv.Itoa(os.Getpid())+"\n"), 0)
	}
	return lockFile{f}, nil
}
