package sqlite

import (
	"context"
	"errors"

	sqlite3 "zombiezen.com/go/sqlite"

	"github.com/gridstand/gridstand/server/internal/store"
)

// place is a query that returns an unused key for a game. Rows are ordered by key, so the
// key determines a game's neighbors.
type place string

// places holds the places to which a game can be moved: before or after all other games.
var places = []place{
	"SELECT min(0, ifnull((SELECT min(game) FROM games), 0), ifnull((SELECT min(game) FROM entries), 0)) - 1",
	"UPDATE sqlite_sequence SET seq = seq + 1 WHERE name = 'games' RETURNING seq",
}

// move moves a game to a place, or creates it there. The old rows of its log stay where
// they are and belong to no game: removing them might move rows again.
func (p place) move(c *sqlite3.Conn, gameID string) error {
	key, _, err := one(c, string(p), firstInt)
	if err != nil {
		return err
	}
	old, err := findGame(c, gameID)
	if err != nil {
		return err
	}
	if old == 0 {
		return exec(c, "INSERT INTO games (game, id, version, digest, time, head) VALUES (?, ?, 0, 0, 0, x'')", key, gameID)
	}
	err = exec(c, `INSERT INTO entries (game, version, digest, time, raw, seed)
		SELECT ?, version, digest, time, raw, seed FROM entries WHERE game = ?`, key, old)
	if err != nil {
		return err
	}
	return exec(c, "UPDATE games SET game = ? WHERE game = ?", key, old)
}

// damage is called after an append to a game has encountered a corrupt page. It returns
// an error if the page holds rows of that game.
func (g games) damage(ctx context.Context, gameID string, corrupt error) error {
	err := g.db.read(ctx, func(c *sqlite3.Conn) error {
		e, err := findHead(c, gameID, g.db.now())
		if err == nil && e.exists {
			_, _, err = one(c, "SELECT count(*) FROM entries WHERE game = ?", firstInt, e.game) // reads all its pages
		}
		return err
	})
	if isCorrupt(err) {
		return errors.Join(store.ErrBroken, corrupt)
	}
	return err
}
