package sqlite

import (
	"context"
	"time"

	sqlite3 "zombiezen.com/go/sqlite"

	"github.com/gridstand/gridstand/server/internal/store"
)

// Append appends an entry and its head in one transaction. An entry that is already in the log counts as
// written.
func (g games) Append(ctx context.Context, gameID string, e store.Entry) (done store.Appended, err error) {
	err = g.db.write(ctx, func(c *sqlite3.Conn) error {
		at, written, err := put(c, gameID, e, g.db.now())
		done = store.Appended{Time: at, Watchers: -1}
		if err == nil && written {
			done.Watchers = g.feed.count(gameID)
		}
		return err
	})
	if err != nil {
		return store.Appended{}, err
	}
	return done, nil
}

// put writes an entry and its head, unless the entry is already in the log, and returns the entry's
// time. If the append must be refused, it returns a refusal, and writes nothing except that it removes an
// expired game.
func put(c *sqlite3.Conn, gameID string, e store.Entry, now time.Time) (at time.Time, written bool, err error) {
	end, err := findEnd(c, gameID, now)
	if err != nil {
		return at, false, err
	}
	if end.last != e.Prev {
		standing, err := entryAt(c, end.game, e.Next.Version)
		switch {
		case err != nil:
			return at, false, err
		case standing != nil && standing.ID == e.Next:
			return standing.Time, false, nil
		default:
			return at, false, refusal{&store.ConflictError{Last: end.last}}
		}
	}
	if ok, err := end.sound(c); err != nil {
		return at, false, err
	} else if !ok {
		return at, false, refusal{store.ErrBroken}
	}
	at = later(now, end.time)
	switch {
	case at.Before(e.NotBefore):
		return at, false, refusal{store.ErrTooEarly}
	case !e.NotAfter.IsZero() && at.After(e.NotAfter):
		return at, false, refusal{store.ErrTooLate}
	}
	if !end.exists {
		if err := exec(c, "INSERT INTO games (id, version, digest, time, head) VALUES (?, 0, 0, 0, x'')", gameID); err != nil {
			return at, false, err
		}
		end.game = c.LastInsertRowID()
	}
	if err := insertEntry(c, end.game, e, at); err != nil {
		return at, false, err
	}
	return at, true, updateHead(c, end.game, e.Next, at, e.Head)
}

// end describes the end of a game's log.
type end struct {
	game   int64
	exists bool // the game has a row in games
	head   store.ID
	last   store.ID  // zero for an empty log
	time   time.Time // of the last entry
	length int64
}

// findEnd finds the end of a game's log, without its length. If the game has expired, findEnd
// removes it.
func findEnd(c *sqlite3.Conn, gameID string, now time.Time) (e end, err error) {
	expired := false
	err = query(c, `SELECT g.game, g.version, g.digest, g.expires <= ?2, e.version, e.digest, e.time
		FROM games g LEFT JOIN entries e USING (game) WHERE g.id = ?1 ORDER BY e.version DESC LIMIT 1`, func(s *sqlite3.Stmt) {
		e.exists, e.game, e.head, expired = true, s.ColumnInt64(0), idAt(s, 1), s.ColumnInt64(3) != 0
		e.last, e.time = idAt(s, 4), timeAt(s, 6)
	}, gameID, now)
	switch {
	case err != nil || !e.exists:
		return end{}, err
	case expired:
		if err := exec(c, "DELETE FROM entries WHERE game = ?", e.game); err != nil {
			return end{}, err
		}
		return end{}, removeGame(c, e.game)
	}
	return e, nil
}

// readLog reads the log's actual end, and its length from the first entry to the last. It does not
// count the entries, which would take 30 ms for 200,000 of them.
func (e *end) readLog(c *sqlite3.Conn) error {
	e.last, e.time, e.length = store.ID{}, time.Time{}, 0
	return query(c, `SELECT version, digest, time, version + 1 - (SELECT min(version) FROM entries WHERE game = ?1)
		FROM entries WHERE game = ?1 ORDER BY version DESC LIMIT 1`, func(s *sqlite3.Stmt) {
		e.last, e.time, e.length = idAt(s, 0), timeAt(s, 2), s.ColumnInt64(3)
	}, e.game)
}

// sound reports whether head and log are consistent, except for gaps in the log. A head that has fallen behind names
// an earlier entry of the log.
func (e *end) sound(c *sqlite3.Conn) (bool, error) {
	if !e.exists || e.head == e.last {
		return true, nil
	}
	if err := e.readLog(c); err != nil || e.length != int64(e.last.Version) {
		return false, err
	}
	named, err := entryAt(c, e.game, e.head.Version)
	return named != nil && named.ID == e.head, err
}

// entryAt returns the entry with the given version, or nil if the log has no such entry.
func entryAt(c *sqlite3.Conn, game int64, version int32) (*store.Record, error) {
	r, found, err := one(c, "SELECT version, digest, time, raw, seed FROM entries WHERE game = ? AND version = ?", recordAt, game, version)
	if !found {
		return nil, err
	}
	return &r, err
}

func recordAt(s *sqlite3.Stmt) store.Record {
	r := store.Record{ID: idAt(s, 0), Time: timeAt(s, 2), Raw: blob(s, 3)}
	if !s.ColumnIsNull(4) {
		r.Seed = blob(s, 4)
	}
	return r
}

// idAt returns the ID stored in the given column and the next one, or the zero ID for
// NULL.
func idAt(s *sqlite3.Stmt, column int) store.ID {
	return store.ID{Version: s.ColumnInt32(column), Digest: uint64(s.ColumnInt64(column + 1))}
}

func insertEntry(c *sqlite3.Conn, game int64, e store.Entry, at time.Time) error {
	var seed any // else NULL
	if e.Seed != nil {
		seed = e.Seed
	}
	return exec(c, "INSERT INTO entries (game, version, digest, time, raw, seed) VALUES (?, ?, ?, ?, ?, ?)",
		game, e.Next.Version, e.Next.Digest, at, e.Raw, seed)
}

func updateHead(c *sqlite3.Conn, game int64, last store.ID, at time.Time, head []byte) error {
	return exec(c, "UPDATE games SET version = ?, digest = ?, time = ?, head = ? WHERE game = ?",
		last.Version, last.Digest, at, head, game)
}

// removeGame removes a game whose entries have been removed, with its listing.
func removeGame(c *sqlite3.Conn, game int64) error {
	ids, err := all(c, "DELETE FROM games WHERE game = ? RETURNING id", firstText, game)
	if err != nil {
		return err
	}
	return forget(c, ids)
}
