package sqlite

import (
	"os"
	"path/filepath"
	"time"
)

// An in-memory store is a file with this name in a temporary directory with this prefix.
const (
	temporaryPrefix = "gridstand-memory-"
	temporaryFile   = "store.db"
)

// leftoverAfter is the minimum age of an in-memory store's lock file before another
// process checks whether the lock is held. It is longer than it takes to lock a new
// store.
const leftoverAfter = time.Minute

// Remove removes the files of a closed store. It ignores files that it cannot remove.
func Remove(path string) {
	for _, suffix := range [...]string{"", walSuffix, shmSuffix, lockSuffix, notesSuffix} {
		_ = os.Remove(path + suffix)
	}
}

// RemoveLeftovers removes the temporary directories of in-memory stores whose processes
// were killed. It ignores directories that it cannot remove.
func RemoveLeftovers() {
	directories, _ := filepath.Glob(filepath.Join(os.TempDir(), temporaryPrefix+"*")) // Glob fails only if the pattern is invalid.
	for _, directory := range directories {
		path := filepath.Join(directory, temporaryFile+lockSuffix)
		info, err := os.Lstat(path)
		if err != nil || !info.Mode().IsRegular() || time.Since(info.ModTime()) < leftoverAfter {
			continue
		}
		held, err := acquire(path)
		if err != nil {
			continue // The store is in use, or belongs to another user.
		}
		_ = held.Close() // Windows cannot remove open files.
		_ = os.RemoveAll(directory)
	}
}
