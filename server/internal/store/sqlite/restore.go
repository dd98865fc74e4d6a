package sqlite

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	sqlite3 "zombiezen.com/go/sqlite"

	"github.com/gridstand/gridstand/internal/syncdir"
	"github.com/gridstand/gridstand/server/internal/store"
)

// restoringSuffix is appended to a database's name to form the name of the file that
// Restore fills.
const restoringSuffix = ".restoring"

// Restore puts a new store in place of the one at path, if there is one. It calls fill
// with the path of a file to create, and renames that file once fill has returned. If path
// has a store and replace is not set, it changes nothing and returns store.ErrNotEmpty.
//
// If the process is killed, path has either the earlier store or the new one; if there was
// none, no server creates one there.
func Restore(path string, replace bool, fill func(path string) error) (err error) {
	if path, err = realPath(path); err == nil {
		err = os.MkdirAll(filepath.Dir(path), 0o700)
	}
	if err != nil {
		return fmt.Errorf("opening %s: %w", path, err)
	}
	if used, _ := opened(path); used {
		return fmt.Errorf("opening %s: %w", path, ErrInUse)
	}
	lock, err := acquire(path + lockSuffix)
	if err != nil {
		return fmt.Errorf("opening %s: %w", path, err)
	}
	isNew, err := checkTarget(path, replace)
	defer func() {
		if err = errors.Join(err, lock.Close()); err != nil && isNew {
			_ = os.Remove(path + lockSuffix) // or the next start would miss the file
		}
	}()
	if err != nil {
		return fmt.Errorf("opening %s: %w", path, err)
	}
	partial := path + restoringSuffix
	removeFiles(partial)
	defer removeFiles(partial)
	if err := fill(partial); err != nil {
		return err
	}
	if err := install(partial, path); err != nil {
		return fmt.Errorf("restoring %s: %w", path, err)
	}
	return nil
}

// removeFiles removes the files of a closed store. It ignores files that it cannot remove.
func removeFiles(path string) {
	for _, suffix := range [...]string{"", walSuffix, shmSuffix, lockSuffix} {
		_ = os.Remove(path + suffix)
	}
}

// checkTarget returns an error if the file at path must not be replaced. isNew reports
// whether there is none.
func checkTarget(path string, replace bool) (isNew bool, err error) {
	f, err := look(path, os.O_RDWR)
	if isCorrupt(err) {
		return false, fmt.Errorf("it is damaged, or is not a file of Gridstand; "+
			"move it away, or name another file (%w)", err)
	}
	if err != nil {
		return false, err
	}
	if f == nil {
		return true, nil
	}
	defer func() { _ = f.Close() }()
	if isEmpty(f) {
		return true, nil
	}
	if !replace {
		return false, store.ErrNotEmpty
	}
	if err := lockData(f); errors.Is(err, errHeld) {
		return false, errOtherName
	}
	unlockData(f)
	return false, nil
}

// install moves the closed store at partial to path, after it has moved the write-ahead log
// of the earlier store at path into that store: SQLite would apply it to the new one.
func install(partial, path string) error {
	if err := absorbLog(partial); err != nil {
		return err
	}
	if _, err := os.Lstat(path); err == nil {
		if err := absorbLog(path); err != nil && !isCorrupt(err) { // a damaged store is replaced as it is
			return err
		}
	}
	for _, suffix := range []string{walSuffix, shmSuffix} {
		if err := os.Remove(path + suffix); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	if err := syncdir.Sync(filepath.Dir(path)); err != nil {
		return err
	}
	if err := os.Rename(partial, path); err != nil {
		return err
	}
	return syncdir.Sync(filepath.Dir(path))
}

// absorbLog moves the write-ahead log of a closed database into it, if it has one.
func absorbLog(path string) error {
	c, err := sqlite3.OpenConn(path, sqlite3.OpenReadWrite)
	if err != nil {
		return err
	}
	return errors.Join(exec(c, "PRAGMA journal_mode = DELETE"), c.Close())
}

// RestoreBackup fills path with a file made by Backup, for Restore. It returns the number
// of games in it.
func RestoreBackup(path string, backup io.Reader) (games int64, err error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return 0, err
	}
	_, err = io.Copy(f, backup)
	if err := errors.Join(err, f.Close()); err != nil {
		return 0, err
	}
	c, err := sqlite3.OpenConn(path, sqlite3.OpenReadWrite)
	if err != nil {
		return 0, failed(err)
	}
	defer func() { err = failed(errors.Join(err, c.Close())) }()
	if _, err := supported(c, latestVersion(upgrades)); err != nil {
		return 0, err
	}
	sound, _, err := one(c, "PRAGMA quick_check(1)", firstText)
	if err == nil && sound != "ok" {
		err = store.Failed(store.Corrupt, "it is damaged: %s", sound)
	}
	if err == nil {
		err = upgrade(c, upgrades) // operators use the file before a server opens it
	}
	if err != nil {
		return 0, err
	}
	return number(c, "SELECT count(*) FROM games")
}
