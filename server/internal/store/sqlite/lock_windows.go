package sqlite

import (
	"errors"
	"math"
	"os"

	"golang.org/x/sys/windows"
)

// lock locks a byte far beyond the end of the file, because other processes cannot read a
// locked byte.
func lock(f *os.File) error { return lockAt(f, 1) }

func unlock(f *os.File) error { return unlockAt(f, 1) }

// lockData locks a database, by whatever name.
func lockData(f *os.File) error { return lockAt(f, math.MaxInt32) }

func unlockData(f *os.File) { _ = unlockAt(f, math.MaxInt32) }

// isDataLocked is implemented only for Unix.
func isDataLocked(*os.File) bool { return false }

// lockAt locks the byte at high times 4 GiB.
func lockAt(f *os.File, high uint32) error {
	err := windows.LockFileEx(windows.Handle(f.Fd()), windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY,
		0, 1, 0, &windows.Overlapped{OffsetHigh: high})
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) {
		return errHeld
	}
	return err
}

func unlockAt(f *os.File, high uint32) error {
	return windows.UnlockFileEx(windows.Handle(f.Fd()), 0, 1, 0, &windows.Overlapped{OffsetHigh: high})
}
