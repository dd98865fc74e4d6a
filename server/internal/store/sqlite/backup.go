package sqlite

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"

	sqlite3 "zombiezen.com/go/sqlite"
)

// Backup writes a copy of the store at path into a new file: all of one moment, also
// while a server writes. It returns when the copy is on the disk. Nothing but a whole
// copy ever has the name of the file.
func Backup(ctx context.Context, path, file string) (err error) {
	if _, err := os.Lstat(file); !errors.Is(err, os.ErrNotExist) {
		if err == nil {
			err = os.ErrExist
		}
		return fmt.Errorf("writing %s: %w", file, err)
	}
	if path, err = realPath(path); err != nil {
		return err
	}
	partial := file + ".partial"
	if err := os.Remove(partial); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	if err := create(partial); err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = os.Remove(partial)
		}
	}()
	c, err := connect(path, sqlite3.OpenReadOnly, false)
	if err != nil {
		return failed(fmt.Errorf("opening %s: %w", path, err))
	}
	c.SetInterrupt(ctx.Done())
	err = errors.Join(exec(c, "VACUUM INTO ?", partial), c.Close())
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		return failed(fmt.Errorf("copying %s: %w", path, err))
	}
	if err := syncFile(partial, os.O_RDWR); err != nil {
		return err
	}
	if err := os.Rename(partial, file); err != nil {
		return err
	}
	if runtime.GOOS == "windows" { // has no directories to sync
		return nil
	}
	return syncFile(filepath.Dir(file), os.O_RDONLY)
}

// syncFile writes a file, or the entries of a directory, to the disk.
func syncFile(name string, flag int) error {
	f, err := os.OpenFile(name, flag, 0)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
