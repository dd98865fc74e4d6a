package sqlite

import (
	"context"
	"math"
	"time"

	sqlite3 "zombiezen.com/go/sqlite"

	"github.com/gridstand/gridstand/server/internal/store"
)

// challenges implements store.Challenges.
type challenges struct{ *db }

const (
	challengeColumns = "id, revision, kind, listed, created, expires, encoded"
	challengeByID    = "SELECT " + challengeColumns + " FROM challenges WHERE id = ? AND expires > ?"
)

func challengeAt(s *sqlite3.Stmt) store.Challenge {
	return store.Challenge{
		ID: s.ColumnText(0), Revision: s.ColumnInt64(1), Kind: uint8(s.ColumnInt64(2)), Listed: s.ColumnBool(3),
		Created: timeAt(s, 4), Expires: timeAt(s, 5), Encoded: blob(s, 6),
	}
}

func findChallenge(c *sqlite3.Conn, id string, now time.Time) (found store.Challenge, ok bool, err error) {
	return one(c, challengeByID, challengeAt, id, now)
}

// putChallenge stores a challenge with the given revision in place of the one with its ID.
func putChallenge(c *sqlite3.Conn, challenge store.Challenge, revision int64) error {
	return exec(c, "INSERT OR REPLACE INTO challenges ("+challengeColumns+") VALUES (?, ?, ?, ?, ?, ?, ?)", challenge.ID, revision,
		int(challenge.Kind), challenge.Listed, challenge.Created, challenge.Expires, challenge.Encoded)
}

func (s challenges) Get(ctx context.Context, ids ...string) (found map[string]store.Challenge, now time.Time, err error) {
	err = s.read(ctx, func(c *sqlite3.Conn) (err error) {
		now = s.now()
		found, err = store.ByID(ids, func(i int) (store.Challenge, bool, error) { return findChallenge(c, ids[i], now) })
		return err
	})
	return found, now, err
}

func (s challenges) Update(ctx context.Context, c store.Challenge) error {
	return s.write(ctx, func(conn *sqlite3.Conn) error {
		stored, _, err := findChallenge(conn, c.ID, s.now())
		switch {
		case err != nil:
			return err
		case stored.Revision != c.Revision:
			return refusal{store.ErrMoved}
		}
		return putChallenge(conn, c, c.Revision+1)
	})
}

// These statements read one page of a list, in index order.
const (
	challengesPage = `SELECT created, id FROM challenges INDEXED BY challenges_recent
		WHERE listed = 1 AND (created, id) < (?1, ?2) AND expires > ?3 ORDER BY created DESC, id DESC LIMIT ?4`
	challengesOfKindPage = `SELECT created, id FROM challenges INDEXED BY challenges_kind
		WHERE listed = 1 AND kind = ?5 AND (created, id) < (?1, ?2) AND expires > ?3 ORDER BY created DESC, id DESC LIMIT ?4`
)

func (s challenges) List(ctx context.Context, kind uint8, after store.Place, n int) ([]store.Place, error) {
	if after == (store.Place{}) {
		after.Rank = math.MaxInt64
	}
	text, args := challengesPage, []any{after.Rank, after.GameID, s.now(), n}
	if kind != 0 {
		text, args = challengesOfKindPage, append(args, int(kind))
	}
	return readOne(ctx, s.db, func(c *sqlite3.Conn) ([]store.Place, error) { return all(c, text, placeAt, args...) })
}
