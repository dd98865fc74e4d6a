package sqlite

import (
	"context"
	"errors"
	"fmt"
	"time"

	sqlite3 "zombiezen.com/go/sqlite"

	"github.com/gridstand/gridstand/server/internal/store"
)

// Append appends an entry. The entry, the head and the writes of e.Then share a
// transaction.
func (g games) Append(ctx context.Context, gameID string, e store.Entry) (store.Appended, error) {
	done, err := g.appendAt(ctx, gameID, e, "")
	if !isCorrupt(err) {
		return done, err
	}
	if err := g.damage(ctx, gameID, err); err != nil {
		return store.Appended{}, err
	}
	// The corrupt page belongs to another game: inserting a row may move rows to or from
	// neighboring pages. If the game is moved, it has different neighbors.
	for _, place := range places {
		if done, err = g.appendAt(ctx, gameID, e, place); !isCorrupt(err) {
			return done, err
		}
	}
	return store.Appended{}, err
}

// appendAt is like Append, but first moves the game to the given place if it is not "".
func (g games) appendAt(ctx context.Context, gameID string, e store.Entry, to place) (store.Appended, error) {
	var (
		done    store.Appended
		refused error
	)
	err := g.db.commit(ctx, func(c *sqlite3.Conn) (err error) {
		if refused = nil; to != "" {
			if err := to.move(c, gameID); err != nil {
				return err
			}
		}
		done, err = g.append(ctx, c, gameID, e)
		// A refused append wrote nothing, so there is no need to roll back the
		// transaction that it shares with other writes.
		if to == "" && isRefusal(err) {
			refused, err = err, nil
		}
		return err
	}, func() {
		if refused == nil && done.Watchers >= 0 {
			g.feed.published(gameID, store.Record{ID: e.Next, Time: done.Time, Raw: e.Raw})
		}
	})
	switch {
	case isRefusal(err):
		return store.Appended{}, err
	case err != nil:
		return store.Appended{}, fmt.Errorf("appending to a game: %w", err)
	case refused != nil:
		return store.Appended{}, refused
	}
	return done, nil
}

// thenError is an error that store.Entry.Then returned after the entry was written.
type thenError struct{ error }

func (e thenError) Unwrap() error { return e.error }

// isRefusal reports whether an append was refused before it wrote anything.
func isRefusal(err error) bool {
	if err == nil {
		return false
	}
	var (
		conflict *store.ConflictError
		wrote    thenError
	)
	return !errors.As(err, &wrote) && (errors.As(err, &conflict) ||
		errors.Is(err, store.ErrTooEarly) || errors.Is(err, store.ErrTooLate) || errors.Is(err, store.ErrBroken))
}

// append writes an entry, or refuses to. An entry that is already in the log counts as
// written.
func (g games) append(ctx context.Context, c *sqlite3.Conn, gameID string, e store.Entry) (store.Appended, error) {
	now := g.db.now()
	at, err := put(c, gameID, e, now, true)
	if sqlite3.ErrCode(err) == sqlite3.ResultConstraintPrimaryKey {
		at, err = put(c, gameID, e, now, false)
	}
	var duplicate *duplicateError
	switch {
	case errors.As(err, &duplicate):
		return store.Appended{Time: duplicate.at, Watchers: -1, Then: true}, nil
	case err != nil:
		return store.Appended{}, err
	}
	if e.Then != nil {
		if err := then(ctx, c, func(ctx context.Context) error { return e.Then(ctx, at) }); err != nil {
			return store.Appended{}, thenError{err}
		}
	}
	return store.Appended{Time: at, Watchers: g.audience.total(gameID, now), Then: e.Then != nil}, nil
}

// duplicateError means that the entry is already in the log.
type duplicateError struct{ at time.Time }

func (*duplicateError) Error() string { return "the entry has already been appended" }

// put writes an entry and its head, and returns the entry's time. It returns an error
// without writing anything if the append must be refused. If quick is set, it reads only
// the entry that e builds on; if another entry already follows that one, the INSERT fails
// with ResultConstraintPrimaryKey.
func put(c *sqlite3.Conn, gameID string, e store.Entry, now int64, quick bool) (time.Time, error) {
	end, err := findEnd(c, gameID, e.Prev, now, quick)
	if err != nil {
		return time.Time{}, err
	}
	if end.last != e.Prev {
		standing, err := entryAt(c, end.game, e.Next.Version)
		switch {
		case err != nil:
			return time.Time{}, err
		case standing != nil && standing.ID == e.Next:
			return time.Time{}, &duplicateError{standing.Time}
		default:
			return time.Time{}, &store.ConflictError{Last: end.last, Standing: standing}
		}
	}
	if ok, err := end.sound(c); err != nil || !ok {
		return time.Time{}, errors.Join(err, store.ErrBroken)
	}
	at := time.UnixMilli(max(now, end.time)).UTC()
	switch {
	case at.Before(e.NotBefore):
		return time.Time{}, store.ErrTooEarly
	case !e.NotAfter.IsZero() && at.After(e.NotAfter):
		return time.Time{}, store.ErrTooLate
	}
	if !end.exists {
		if err := exec(c, "INSERT INTO games (id, version, digest, time, head) VALUES (?, 0, 0, 0, x'')", gameID); err != nil {
			return time.Time{}, err
		}
		end.game = c.LastInsertRowID()
	}
	if err := insertEntry(c, end.game, e, at); err != nil {
		return time.Time{}, err
	}
	return at, updateHead(c, end.game, e.Next, at, e.Head)
}

// end describes the end of a game's log.
type end struct {
	game   int64
	exists bool // the game has a row in games
	head   store.ID
	last   store.ID // zero for an empty log
	time   int64    // of the last entry
	length int64    // −1 if not counted
}

// findEnd finds the end of a game's log. If quick is set, it reads only the entry whose ID
// is want, provided that the log contains that entry and the head names it.
func findEnd(c *sqlite3.Conn, gameID string, want store.ID, now int64, quick bool) (e end, err error) {
	s, err := c.Prepare(`SELECT g.game, g.version, g.digest, g.expires <= ?3, e.version, e.digest, e.time
		FROM games g LEFT JOIN entries e ON e.game = g.game AND e.version = ?2 WHERE g.id = ?1`)
	if err != nil {
		return end{}, err
	}
	s.BindText(1, gameID)
	s.BindInt64(2, int64(want.Version))
	s.BindInt64(3, now)
	if e.exists, err = s.Step(); err != nil || !e.exists {
		return end{}, err
	}
	e.game, e.head, e.last, e.time, e.length = s.ColumnInt64(0), idAt(s, 1), idAt(s, 4), s.ColumnInt64(6), -1
	expired := s.ColumnInt64(3) != 0
	if err := s.Reset(); err != nil {
		return end{}, err
	}
	switch {
	case expired:
		return end{}, removeGame(c, e.game)
	case quick && e.last == want && e.head == want && want.Version > 0:
		return e, nil
	}
	return e, e.readLog(c)
}

// readLog reads the log's actual end and length.
func (e *end) readLog(c *sqlite3.Conn) error {
	e.last, e.time, e.length = store.ID{}, 0, 0
	err := query(c, "SELECT version, digest, time FROM entries WHERE game = ? ORDER BY version DESC LIMIT 1", func(s *sqlite3.Stmt) error {
		e.last, e.time = idAt(s, 0), s.ColumnInt64(2)
		return nil
	}, e.game)
	if err != nil {
		return err
	}
	return query(c, "SELECT count(*) FROM entries WHERE game = ?", func(s *sqlite3.Stmt) error {
		e.length = s.ColumnInt64(0)
		return nil
	}, e.game)
}

// sound reports whether head and log are consistent. A head that has fallen behind names
// an earlier entry of the log.
func (e *end) sound(c *sqlite3.Conn) (bool, error) {
	if e.length >= 0 && e.length != int64(e.last.Version) {
		return false, nil
	}
	if !e.exists || e.head == e.last {
		return true, nil
	}
	named, err := entryAt(c, e.game, e.head.Version)
	return named != nil && named.ID == e.head, err
}

// entryAt returns the entry with the given version, or nil if the log has no such entry.
func entryAt(c *sqlite3.Conn, game int64, version int32) (r *store.Record, err error) {
	err = query(c, "SELECT version, digest, time, raw, seed FROM entries WHERE game = ? AND version = ?", func(s *sqlite3.Stmt) error {
		r = recordAt(s)
		return nil
	}, game, version)
	return r, err
}

func recordAt(s *sqlite3.Stmt) *store.Record {
	r := &store.Record{ID: idAt(s, 0), Time: timeAt(s, 2), Raw: blob(s, 3)}
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
	s, err := c.Prepare("INSERT INTO entries (game, version, digest, time, raw, seed) VALUES (?, ?, ?, ?, ?, ?)")
	if err != nil {
		return err
	}
	s.BindInt64(1, game)
	s.BindInt64(2, int64(e.Next.Version))
	s.BindInt64(3, int64(e.Next.Digest))
	s.BindInt64(4, at.UnixMilli())
	s.BindBytes(5, e.Raw)
	if e.Seed != nil {
		s.BindBytes(6, e.Seed)
	}
	_, err = s.Step()
	return err
}

func updateHead(c *sqlite3.Conn, game int64, last store.ID, at time.Time, head []byte) error {
	s, err := c.Prepare("UPDATE games SET version = ?, digest = ?, time = ?, head = ? WHERE game = ?")
	if err != nil {
		return err
	}
	s.BindInt64(1, int64(last.Version))
	s.BindInt64(2, int64(last.Digest))
	s.BindInt64(3, at.UnixMilli())
	s.BindBytes(4, head)
	s.BindInt64(5, game)
	_, err = s.Step()
	return err
}

func removeGame(c *sqlite3.Conn, game int64) error {
	if err := exec(c, "DELETE FROM entries WHERE game = ?", game); err != nil {
		return err
	}
	return exec(c, "DELETE FROM games WHERE game = ?", game)
}
