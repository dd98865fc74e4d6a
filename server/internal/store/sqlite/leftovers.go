package sqlite

import (
	"os"
	"path/filepath"
	"time"
)

// A store in memory is a file of this name, in a temporary directory with this prefix.
const (
	temporaryPrefix = "gridstand-memory-"
	temporaryFile   = "store.db"
)

// leftoverAfter is how old the lock of a store in memory is before another process looks
// whether it is held: longer than it takes to lock a new one.
const leftoverAfter = time.Minute

// RemoveLeftovers removes the temporary directories of stores in memory whose processes
// were killed. It leaves what it cannot remove.
func RemoveLeftovers() {
	directories, _ := filepath.Glob(filepath.Join(os.TempDir(), temporaryPrefix+"*")) // The pattern is valid.
	for _, directory := range directories {
		path := filepath.Join(directory, temporaryFile+lockSuffix)
		info, err := os.Lstat(path)
		if err != nil || !info.Mode().IsRegular() || time.Since(info.ModTime()) < leftoverAfter {
			continue
		}
		held, err := acquire(path)
		if err != nil {
			continue // It is in use, or another user's.
		}
		_ = held.Close() // Windows removes no open files.
		_ = os.RemoveAll(directory)
	}
}
