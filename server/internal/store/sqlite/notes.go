package sqlite

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	sqlite3 "zombiezen.com/go/sqlite"
)

// notesSuffix is appended to a database's name to form the name of its notes.
const notesSuffix = ".moves"

// notes is a file next to the database that names the entries appended since the write-ahead log was
// last moved into the database. SQLite does not notice if that log is cut or deleted after the server
// was killed: it opens the file in an earlier state. Each line has a game's ID and its last version, or
// 0 if the game was removed. The file is not synced, so it may lag behind the log after a power
// failure. After Open only the writer's goroutine changes notes; a nil *notes notes nothing.
type notes struct {
	file *os.File
	size int64  // of the lines in the file
	next []byte // lines to write
	sure int    // the length of the lines in next whose transaction was committed
	lost []string
}

// openNotes opens the notes next to the database at path, and finds the games whose logs lack
// entries that are in them. It returns nil if the notes cannot be written, such as on a full disk: all
// else works without them.
func openNotes(path string, c *sqlite3.Conn) (*notes, error) {
	file, err := os.OpenFile(path+notesSuffix, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, nil //nolint:nilerr // see above
	}
	n := &notes{file: file}
	if err := n.read(c); err != nil {
		_ = file.Close()
		return nil, err
	}
	return n, nil
}

func (n *notes) read(c *sqlite3.Conn) error {
	versions := map[string]int64{}
	for lines := bufio.NewReader(n.file); ; {
		line, err := lines.ReadString('\n')
		if errors.Is(err, io.EOF) {
			break // A line without an end was not written completely.
		}
		if err != nil {
			return err
		}
		n.size += int64(len(line))
		var id string
		var version int64
		if _, err := fmt.Sscanf(line, "%s %d\n", &id, &version); err == nil {
			versions[id] = version
		}
	}
	for id, version := range versions {
		found, err := number(c, "SELECT max(e.version) FROM games g JOIN entries e USING (game) WHERE g.id = ?", id)
		if err != nil && !isCorrupt(err) {
			return err
		}
		if err == nil && found < version {
			n.lost = append(n.lost, id)
		}
	}
	return nil
}

// add notes a game's last version as of the current transaction.
func (n *notes) add(gameID string, version int32) {
	if n != nil {
		n.next = fmt.Appendf(n.next, "%s %d\n", gameID, version)
	}
}

// commit writes the added lines. If that fails, such as on a full disk, the next call tries again.
func (n *notes) commit() {
	if n == nil || len(n.next) == 0 {
		return
	}
	n.sure = len(n.next)
	if _, err := n.file.WriteAt(n.next, n.size); err == nil {
		n.size += int64(len(n.next))
		n.next, n.sure = n.next[:0], 0
	}
}

// rollback drops the lines of the current transaction.
func (n *notes) rollback() {
	if n != nil {
		n.next = n.next[:n.sure]
	}
}

// reset removes all lines, because the database has all entries, unless games lost some.
func (n *notes) reset() {
	if n != nil && len(n.lost) == 0 && n.file.Truncate(0) == nil {
		n.size, n.next, n.sure = 0, n.next[:0], 0
	}
}

// close closes the file. It removes the file if empty is set, unless games lost entries.
func (n *notes) close(empty bool) error {
	if n == nil {
		return nil
	}
	err := n.file.Close()
	if empty && len(n.lost) == 0 {
		_ = os.Remove(n.file.Name())
	}
	return err
}

// Settle calls quarantine with the IDs of the games that had acknowledged entries that the file and its
// write-ahead log lacked when it was opened, if there are any. It does so at each start until quarantine
// succeeds.
func (e *engine) Settle(ctx context.Context, quarantine func(ctx context.Context, gameIDs []string) error) error {
	n := e.db.notes
	if n == nil || len(n.lost) == 0 {
		return nil
	}
	lost := n.lost
	if err := quarantine(ctx, lost); err != nil {
		return err
	}
	return e.db.write(ctx, func(*sqlite3.Conn) error {
		for _, id := range lost {
			n.add(id, 0)
		}
		n.lost = nil
		return nil
	})
}
