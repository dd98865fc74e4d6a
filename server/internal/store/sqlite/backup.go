package sqlite

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
)

// Backup writes a copy of the store at path to a new file. The copy is consistent even
// while a server is writing to the store, and has been synced to disk when Backup returns.
// The file gets its final name only once the copy is complete. Backup returns the number of
// games in the copy, and its size in bytes.
func Backup(ctx context.Context, path, file string) (games, size int64, err error) {
	if info, err := os.Lstat(file); !errors.Is(err, os.ErrNotExist) {
		switch {
		case err == nil && info.IsDir():
			err = errors.New("it is a directory; add a file name")
		case err == nil:
			err = os.ErrExist
		}
		return 0, 0, fmt.Errorf("writing %s: %w", file, err)
	}
	if path, err = realPath(path); err == nil {
		err = checkBeside(path)
	}
	if err != nil {
		return 0, 0, fmt.Errorf("opening %s: %w", path, err)
	}
	partial := file + ".partial"
	if err := os.Remove(partial); err != nil && !errors.Is(err, os.ErrNotExist) {
		return 0, 0, err
	}
	if _, err := create(partial); err != nil {
		if reason, ok := errors.AsType[*fs.PathError](err); ok {
			err = reason.Err // without the temporary name
		}
		return 0, 0, fmt.Errorf("writing %s: %w", file, err)
	}
	defer func() {
		if err != nil {
			_ = os.Remove(partial)
		}
	}()
	c, err := connectReader(path)
	if err != nil {
		return 0, 0, failed(fmt.Errorf("opening %s: %w", path, explain(path, err)))
	}
	c.SetInterrupt(ctx.Done())
	err = errors.Join(exec(c, "VACUUM INTO ?", partial), c.Close())
	switch {
	case ctx.Err() != nil:
		return 0, 0, ctx.Err()
	case err != nil:
		return 0, 0, failed(fmt.Errorf("copying %s: %w", path, err))
	}
	if games, size, err = measure(partial); err != nil {
		return 0, 0, err
	}
	if err := syncFile(partial, os.O_RDWR); err != nil {
		return 0, 0, err
	}
	if err := os.Rename(partial, file); err != nil {
		return 0, 0, err
	}
	if runtime.GOOS == "windows" { // Windows cannot sync directories
		return games, size, nil
	}
	return games, size, syncFile(filepath.Dir(file), os.O_RDONLY)
}

// measure returns the number of games in a database, and its size in bytes.
func measure(path string) (games, size int64, err error) {
	info, err := os.Stat(path)
	if err != nil {
		return 0, 0, err
	}
	c, err := connectReader(path)
	if err != nil {
		return 0, 0, err
	}
	games, err = number(c, "SELECT count(*) FROM games")
	return games, info.Size(), errors.Join(err, c.Close())
}

// syncFile syncs a file, or a directory's entries, to disk.
func syncFile(name string, flag int) error {
	f, err := os.OpenFile(name, flag, 0)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
