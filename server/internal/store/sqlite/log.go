package sqlite

import (
	"errors"
	"os"

	sqlite3 "zombiezen.com/go/sqlite"
)

const (
	// checkpointPages is the number of pages in the write-ahead log at which they are moved into the
	// database. A checkpoint writes each page only once, no matter how many times the page is in the
	// log. With 4096 pages, checkpoints would take a tenth of the processor time of appends to 500
	// games.
	checkpointPages = 12288
	// logLimit is the size in bytes to which a longer log is cut once it starts over.
	logLimit = 64 << 20
	// tendEvery is the number of requests after which the log is measured, which takes 4 µs.
	tendEvery = 16
	// grownPages is the number of pages at which the log is reported as too long.
	grownPages = 2 * checkpointPages
)

// These return a row with the number of pages in the log, and how many of these are in the database.
const (
	measureLog = "PRAGMA wal_checkpoint(NOOP)"
	moveLog    = "PRAGMA wal_checkpoint(PASSIVE)"
)

func logPages(c *sqlite3.Conn, pragma string) (pages, moved int64, err error) {
	err = query(c, pragma, func(s *sqlite3.Stmt) { pages, moved = s.ColumnInt64(1), s.ColumnInt64(2) })
	return pages, moved, err
}

// tendLog moves the pages of the log into the database if there are enough of them, so that SQLite
// starts the log over. It ignores errors: the next call tries again, and the log can grow until the
// disk is full.
func (w *writer) tendLog() {
	pages, _, err := logPages(w.conn, measureLog)
	if err != nil {
		return
	}
	if pages < checkpointPages {
		w.grown = false
		return
	}
	pages, moved, err := logPages(w.conn, moveLog)
	if sqlite3.ErrCode(err) == sqlite3.ResultIOErrFsync {
		w.suspect = true
	}
	if pages >= grownPages && !w.grown {
		w.grown = true
		w.logger.Warn("the write-ahead log grows because another program reads the file for a long time", "id", "log-grows",
			"pages", pages, "moved", moved, "error", err)
	}
}

// emptyLog moves all pages of the log into the database. It must be called while only the writer's
// connection is open.
func (f *file) emptyLog() error {
	move := moveLog
	if f.verify() != nil {
		// SQLite would leave the log to the file that now has the name, and corrupt that file.
		move = "PRAGMA wal_checkpoint(TRUNCATE)"
	}
	pages, moved, err := logPages(f.writer.conn, move)
	if err == nil && moved < pages {
		err = errors.New("another program reads the file")
	}
	if err != nil {
		f.logger.Error("cannot move the write-ahead log into the file; keep both together, because the log has the latest moves",
			"id", "log-not-emptied", "log", f.path+walSuffix, "error", err)
	}
	return err
}

// LogSize returns the size of the write-ahead log in bytes.
func (e *engine) LogSize() int {
	info, err := os.Stat(e.db.path + walSuffix)
	if err != nil {
		return 0
	}
	return int(info.Size())
}
