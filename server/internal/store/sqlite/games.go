package sqlite

import (
	"context"
	"time"

	sqlite3 "zombiezen.com/go/sqlite"

	"github.com/gridstand/gridstand/server/internal/store"
)

// games implements store.Games.
type games struct {
	db   *db
	feed *feed
}

// unreadable stands for an ID that cannot be read.
var unreadable = store.ID{Version: -1}

func (g games) Tail(ctx context.Context, gameID string) (t store.Tail, err error) {
	now := g.db.now()
	t.Watchers = g.feed.count(gameID)
	err = g.db.read(ctx, func(c *sqlite3.Conn) error {
		e, err := findHead(c, gameID, now)
		switch {
		case isCorrupt(err):
			t.Last, t.Head = unreadable, unreadable
			return nil
		case err != nil || !e.exists:
			return err
		}
		t.Head = e.head
		if err := e.readLog(c); isCorrupt(err) {
			t.Last = unreadable
			return nil
		} else if err != nil {
			return err
		}
		t.Last, t.Length = e.last, e.length
		return nil
	})
	return t, err
}

// findHead finds a game's row in the games table.
func findHead(c *sqlite3.Conn, gameID string, now time.Time) (e end, err error) {
	err = query(c, "SELECT game, version, digest FROM games WHERE id = ? AND (expires IS NULL OR expires > ?)", func(s *sqlite3.Stmt) {
		e.exists, e.game, e.head = true, s.ColumnInt64(0), idAt(s, 1)
	}, gameID, now)
	return e, err
}

func (g games) Entries(ctx context.Context, gameID string, from int32, n int) (records []store.Record, err error) {
	last := from - 1
	err = g.db.read(ctx, func(c *sqlite3.Conn) error {
		e, err := findHead(c, gameID, g.db.now())
		if err != nil || !e.exists {
			return err
		}
		return query(c, "SELECT version, digest, time, raw, seed FROM entries WHERE game = ? AND version >= ? ORDER BY version LIMIT ?",
			func(s *sqlite3.Stmt) {
				r := recordAt(s)
				records, last = append(records, r), r.ID.Version
			}, e.game, from, n)
	})
	if isCorrupt(err) {
		return records, &store.CorruptError{Version: last, Err: err}
	}
	return records, err
}

func (g games) Heads(ctx context.Context, gameIDs []string) (heads []store.Head, err error) {
	now := g.db.now()
	err = g.db.read(ctx, func(c *sqlite3.Conn) error {
		heads = make([]store.Head, len(gameIDs))
		for i, id := range gameIDs {
			h := &heads[i]
			err := query(c, "SELECT version, digest, time, head FROM games WHERE id = ? AND (expires IS NULL OR expires > ?)", func(s *sqlite3.Stmt) {
				*h = store.Head{Exists: true, Last: idAt(s, 0), Time: timeAt(s, 2), Encoded: blob(s, 3), Watchers: g.feed.count(id)}
			}, id, now)
			if isCorrupt(err) {
				*h = store.Head{Exists: true}
			} else if err != nil {
				return err
			}
		}
		return nil
	})
	return heads, err
}

func (g games) Mend(ctx context.Context, gameID string, from store.ID, head store.Head) error {
	return g.db.write(ctx, func(c *sqlite3.Conn) error {
		e, err := findHead(c, gameID, g.db.now())
		if err != nil || !e.exists || e.head != from {
			return err
		}
		return updateHead(c, e.game, head.Last, head.Time, head.Encoded)
	})
}

// Expire need not wait for the disk: like boards.Record, it precedes the end of the game's job.
func (g games) Expire(ctx context.Context, at time.Time, gameIDs ...string) error {
	return g.db.writeUnsynced(ctx, func(c *sqlite3.Conn) error {
		return execEach(c, "UPDATE games SET expires = ?2 WHERE id = ?1 AND (expires IS NULL OR expires > ?3)", gameIDs, at, g.db.now())
	})
}

func (g games) Quarantine(ctx context.Context, gameID string, last store.ID, keep time.Duration) error {
	return g.db.write(ctx, func(c *sqlite3.Conn) error {
		now := g.db.now()
		e, err := findEnd(c, gameID, now)
		switch {
		case err != nil:
			return err
		case e.last != last:
			return refusal{store.ErrMoved}
		}
		const quarantine = `INSERT INTO games (id, version, digest, time, head, expires) VALUES (?1, ?2, ?3, 0, x'', ?4)
			ON CONFLICT (id) DO UPDATE SET version = excluded.version, digest = excluded.digest, expires = excluded.expires`
		return exec(c, quarantine, gameID, store.Quarantined.Version, store.Quarantined.Digest, now.Add(keep))
	})
}

// idsPage is the number of games that IDs reads at a time.
const idsPage = 1000

// listIDs checks whether a game has log entries only if the game is in quarantine,
// because all other games have entries.
const listIDs = `SELECT id FROM games g WHERE id > ?1 AND (expires IS NULL OR expires > ?2)
	AND (version <> ?3 OR EXISTS (SELECT 1 FROM entries e WHERE e.game = g.game)) ORDER BY id LIMIT ?4`

func (g games) IDs(ctx context.Context, visit func(gameIDs []string) error) error {
	for last := ""; ; {
		ids, err := readOne(ctx, g.db, func(c *sqlite3.Conn) ([]string, error) {
			return all(c, listIDs, firstText, last, g.db.now(), store.Quarantined.Version, idsPage)
		})
		if err != nil {
			return err
		}
		if len(ids) == 0 {
			return nil
		}
		if err := visit(ids); err != nil {
			return err
		}
		last = ids[len(ids)-1]
	}
}

func isCorrupt(err error) bool {
	code := sqlite3.ErrCode(err).ToPrimary()
	return code == sqlite3.ResultCorrupt || code == sqlite3.ResultNotADB
}
