// Package syncdir makes changes to the entries of directories durable.
package syncdir

import (
	"errors"
	"os"
	"runtime"
)

// Sync syncs a directory's entries to disk, so that files that were created, renamed or removed in it
// stay so after a crash. On Windows, which cannot sync directories, it does nothing.
func Sync(name string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	d, err := os.Open(name)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
