package sqlite

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"

	"github.com/gridstand/gridstand/server/internal/store"
)

// parts holds the file name suffix of each of a database's files.
var parts = [...]string{"", walSuffix, shmSuffix}

const (
	walSuffix = "-wal"
	shmSuffix = "-shm"
)

// howToRestore explains how to replace the file at path safely.
func howToRestore(path string) string {
	return fmt.Sprintf(`to restore a backup, stop the server, delete %[1]s-wal and %[1]s-shm, copy the backup to %[1]s, run "gridstand-server quarantine --before now" on it, and start the server`, filepath.Base(path))
}

// identify records the identity of the open files.
func (f *file) identify() (err error) {
	for i, part := range parts {
		f.opened[i].name = f.path + part
		if f.opened[i].info, err = os.Stat(f.opened[i].name); err != nil {
			return err
		}
	}
	return nil
}

// own prepares the file for use by this process, which holds its lock. created is set if the
// file was missing or empty, and restored if restoredOver reported so before it was opened.
func (f *file) own(lock *lockFile, created, restored bool) error {
	info, err := lock.Stat()
	if err != nil {
		return err
	}
	record := newRecord(f.opened[0].info, info)
	switch {
	case created && lock.record != "":
		f.logger.Warn("the database file was missing or empty and is now new, but the lock file next to it says that there was one: "+
			"to keep the earlier games, stop the server and put that file or a backup in its place", "id", "file-missing", "file", f.path)
	case !created && (restored || replacedSince(lock.record, f.opened[0].info)):
		f.logger.Warn("the database file was deleted or replaced since the last server started, and its games were not quarantined since: "+
			"if it is a backup, open games continue without the moves that it lacks", "id", "file-not-quarantined", "file", f.path)
		if !f.logger.Enabled(context.Background(), slog.LevelWarn) { // A tool has the file open; the next server has to warn.
			record = lock.record
			if restored {
				record = fmt.Sprintf(replacedRecord, 0)
			}
		}
	}
	// Without the record, the next start may fail to recognize that the log belongs to
	// another file.
	if err := lock.remember(record); err != nil {
		f.logger.Debug("cannot record to which file the write-ahead log belongs", "error", err)
	}
	return nil
}

// verify returns an error, and makes all other calls fail, while a file name no longer
// refers to the open file, or the open file was overwritten. Writes to such a file are
// lost when the process ends, so they must be neither acknowledged nor read.
func (f *file) verify() error {
	var refused *store.Error
	for _, opened := range f.opened {
		now, err := os.Stat(opened.name)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			refused = f.refuse("%s was deleted while the server was running; all reads and writes fail until it is back", opened.name)
		case err == nil && !os.SameFile(opened.info, now):
			refused = f.refuse("%s was replaced while the server was running; all reads and writes fail until the previous file is back", opened.name)
		}
	}
	if refused == nil && f.overwritten() {
		refused = f.refuse("%s was overwritten while the server was running; all reads and writes fail", f.path)
	}
	f.writer.refused.Store(refused)
	if refused != nil {
		return refused
	}
	return nil
}

// refuse returns an error that contains the reason and explains how to restore a backup.
func (f *file) refuse(reason, name string) *store.Error {
	return &store.Error{Kind: store.Corrupt, Err: fmt.Errorf(reason+"; %s", name, howToRestore(f.path))}
}

// overwritten reports whether other content was copied into the open file. It notices
// files that do not use a write-ahead log, such as those that Backup creates.
func (f *file) overwritten() bool {
	if f.header == nil {
		return false
	}
	logged, err := usesLog(f.header)
	return err == nil && !logged
}

// headerSize is the size of a database's header.
const headerSize = 100

// usesLog reports whether a database file is in write-ahead log mode. A server sets this
// mode before it creates the log.
func usesLog(f *os.File) (bool, error) {
	var header [headerSize]byte
	n, err := f.ReadAt(header[:], 0)
	if n < headerSize { // the header was never written, or the file is being overwritten
		info, statErr := f.Stat()
		if statErr == nil && info.Size() < headerSize {
			return false, nil
		}
		return false, err
	}
	return header[18] == 2 && header[19] == 2, nil
}

// closeLog empties the write-ahead log, or removes it if its database is no longer at its path. SQLite
// would leave the log there, and apply it to the next database at this path, which would
// corrupt it. It must be called while only the writer's connection is open.
//
// The log's pages are first moved into the open file, because an operator may have moved
// that file to another path. The lock file then records that the file was replaced.
func (f *file) closeLog(lock *lockFile) error {
	database := f.opened[0]
	now, err := os.Stat(database.name)
	overwritten := f.overwritten()
	if !overwritten && (err == nil && os.SameFile(database.info, now) || err != nil && !errors.Is(err, fs.ErrNotExist)) {
		return f.emptyLog()
	}
	if !overwritten {
		blocked, err := number(f.writer.conn, "PRAGMA wal_checkpoint(TRUNCATE)")
		if err == nil && blocked != 0 {
			err = errors.New("another process reads it")
		}
		if err != nil {
			return fmt.Errorf("emptying %s, which belongs to a deleted or replaced file: %w", f.opened[1].name, err)
		}
	}
	for _, opened := range f.opened[1:] {
		now, err := os.Stat(opened.name)
		if err != nil || !os.SameFile(opened.info, now) {
			continue // The file does not belong to this store.
		}
		if overwritten && strings.HasSuffix(opened.name, walSuffix) {
			// When SQLite closes the last connection, it checkpoints the log into the
			// database. An empty log prevents that.
			err = os.Truncate(opened.name, 0)
		}
		if err := errors.Join(err, os.Remove(opened.name)); err != nil {
			return err
		}
	}
	f.logger.Warn("the database file was deleted or replaced while the server was running: "+
		"if it is a backup, run \"gridstand-server quarantine --before now\" on it before the next start", "id", "file-replaced", "file", f.path)
	previous := inode(database.info)
	if overwritten {
		previous = 0
	}
	return lock.remember(fmt.Sprintf(replacedRecord, previous))
}

// replacedRecord is the format of the record in the lock file after a server has stopped
// whose file was deleted, replaced or overwritten. It contains the inode number of the
// previous file, or 0 if that file was overwritten.
const replacedRecord = "replaced %d"

// replacedSince reports whether a record says that another file than the given one was in
// its place before.
func replacedSince(record string, database os.FileInfo) bool {
	var previous uint64
	_, err := fmt.Sscanf(record, replacedRecord, &previous)
	return err == nil && inode(database) != previous
}

// restoredOver reports whether a file, which may be nil, is a backup that no server or tool has opened,
// although a record says that a server used a file at this path before. So it recognizes a backup
// that was put in place after the server was killed or stopped. No process may be using the file.
func restoredOver(f *os.File, record string) bool {
	if f == nil || record == "" {
		return false
	}
	info, err := f.Stat()
	if err != nil || info.Size() < headerSize {
		return false
	}
	logged, err := usesLog(f)
	return err == nil && !logged
}

// Quarantined records that the open games in the file at path were quarantined, so that
// the next start logs no warning even if the file was replaced. It does nothing while a
// server is using the file.
func Quarantined(path string) error {
	content, err := os.ReadFile(path + lockSuffix)
	if err != nil || !strings.Contains(string(content), "\nreplaced ") {
		return nil //nolint:nilerr // Without a lock file there is nothing to remove.
	}
	lock, err := acquire(path + lockSuffix)
	if errors.Is(err, ErrInUse) {
		return nil
	}
	if err != nil {
		return err
	}
	return errors.Join(lock.remember(""), lock.Close())
}

// checkLog returns an error if the write-ahead log next to a database belongs to another
// database that was at the same path before. SQLite would apply the log anyway and
// corrupt the database. f is the database, or nil if there is none, and record is the record in
// the lock file. Unless beside is set, no server may be using the database.
func checkLog(path string, f *os.File, record string, beside bool) error {
	log, err := os.Stat(path + walSuffix)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case log.Size() == 0 && !beside:
		return nil
	}
	if f == nil {
		return fmt.Errorf("it does not exist, but its write-ahead log %s does; put the file back, or %s", path+walSuffix, howToRestore(path))
	}
	logged, err := usesLog(f)
	if err != nil {
		return nil // SQLite reports the error.
	}
	if info, err := f.Stat(); logged && (err != nil || recordMatches(record, path, info)) {
		return nil
	}
	return fmt.Errorf("%s does not belong to this file but to an earlier one at this path, and would corrupt it; %s",
		path+walSuffix, howToRestore(path))
}

// newRecord returns the line in a lock file that identifies the database to which the
// write-ahead log belongs: the inode numbers of the database and of the lock file.
func newRecord(database, lock os.FileInfo) string {
	if inode(database) == 0 {
		return ""
	}
	return fmt.Sprintf("inode %d lock %d", inode(database), inode(lock))
}

// recordMatches reports whether a record identifies the given database. It also returns
// true if the record is missing or the lock file is a copy, because all files may have
// been copied.
func recordMatches(record, path string, database os.FileInfo) bool {
	var of, in uint64
	if _, err := fmt.Sscanf(record, "inode %d lock %d", &of, &in); err != nil {
		return true
	}
	lock, err := os.Stat(path + lockSuffix)
	return err != nil || inode(lock) != in || inode(database) == of
}
