package sqlite

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/gridstand/gridstand/server/internal/store"
)

const (
	walSuffix = "-wal"
	shmSuffix = "-shm"
)

// howToRestore explains how to replace a file safely.
const howToRestore = `to restore a backup, stop the server, run "gridstand-server restore --replace" and "gridstand-server quarantine --before now", and start the server`

// verify returns an error, and makes all other calls fail, while the name of the file or of its log no
// longer refers to what is open: writes are lost when the process ends, so they must not be acknowledged.
// A log without a name is lost only if the process is killed, because a stop empties it. verify is called
// with each heartbeat.
func (f *file) verify() error {
	refused := f.changed(f.path, f.info, howToRestore)
	if refused == nil {
		refused = f.changed(f.path+walSuffix, f.wal, "or restart the server, which saves its moves")
	}
	before := f.writer.refused.Swap(refused)
	if refused == nil {
		return nil
	}
	if before == nil {
		f.logger.Error("the file or its log was deleted or replaced while the server is running: moves are refused",
			"id", "file-replaced", "file", f.path, "error", refused)
	}
	return refused
}

// changed returns an error if the path no longer refers to the file opened. advice says what to do if that is lost.
func (f *file) changed(path string, opened os.FileInfo, advice string) *store.Error {
	now, err := os.Stat(path)
	switch {
	case os.SameFile(opened, now):
		return nil
	case err == nil || errors.Is(err, fs.ErrNotExist):
		return &store.Error{Kind: store.Corrupt, Err: fmt.Errorf(
			"%s was deleted or replaced while the server was running; all reads and writes fail until it is back; %s", path, advice)}
	default: // It is unknown which file has the name now.
		return f.writer.refused.Load()
	}
}

// headerSize is the size of a database's header.
const headerSize = 100

// checkLog returns an error if the write-ahead log next to a database belongs to another
// database that was at the same path before: SQLite would apply the log anyway and corrupt
// the database. It recognizes databases that no server has opened, such as backups. f is
// the database, or nil if there is none.
func checkLog(path string, f *os.File) error {
	log, err := os.Stat(path + walSuffix)
	if err != nil || log.Size() == 0 {
		return nil //nolint:nilerr // There is no log.
	}
	if f == nil {
		return fmt.Errorf("it does not exist, but its write-ahead log %s does; put the file back, or %s", path+walSuffix, howToRestore)
	}
	var header [headerSize]byte
	if n, _ := f.ReadAt(header[:], 0); n == headerSize && header[18] == 2 && header[19] == 2 || n < headerSize && !isEmpty(f) {
		return nil // The database uses a log, or SQLite reports the error.
	}
	return fmt.Errorf("%s does not belong to this file but to an earlier one at this path, and would corrupt it; %s",
		path+walSuffix, howToRestore)
}
