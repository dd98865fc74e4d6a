//go:build unix

package sqlite

import (
	"errors"
	"io"
	"math"
	"os"

	"golang.org/x/sys/unix"
)

func lock(f *os.File) error {
	err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		return errHeld
	}
	return err
}

func unlock(f *os.File) error { return unix.Flock(int(f.Fd()), unix.LOCK_UN) }

// dataLock is a byte that no database reaches and that SQLite does not lock.
func dataLock(kind int16) *unix.Flock_t {
	return &unix.Flock_t{Type: kind, Whence: io.SeekStart, Start: math.MaxInt64 - 1, Len: 1}
}

// lockData locks a database, by whatever name. It locks one byte, because on network file systems
// and on BSD a lock of the whole file would conflict with SQLite's own. It returns nil if the file
// system has no such locks.
func lockData(f *os.File) error {
	err := unix.FcntlFlock(f.Fd(), setLock, dataLock(unix.F_WRLCK))
	if errors.Is(err, unix.EAGAIN) || errors.Is(err, unix.EACCES) {
		return errHeld
	}
	return nil
}

func unlockData(f *os.File) { _ = unix.FcntlFlock(f.Fd(), setLock, dataLock(unix.F_UNLCK)) }

// isDataLocked reports whether another open file holds the lock.
func isDataLocked(f *os.File) bool {
	lock := dataLock(unix.F_WRLCK)
	return unix.FcntlFlock(f.Fd(), getLock, lock) == nil && lock.Type != unix.F_UNLCK
}
