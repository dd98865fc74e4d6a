package sqlite

import (
	"context"
	"time"

	sqlite3 "zombiezen.com/go/sqlite"

	"github.com/gridstand/gridstand/server/internal/store"
)

// profiles implements store.Profiles.
type profiles struct{ *db }

func (p profiles) Get(ctx context.Context, playerID string) (found store.Profile, now time.Time, err error) {
	err = p.read(ctx, func(c *sqlite3.Conn) error {
		now = p.now()
		found, _, err = one(c, `SELECT p.revision, p.encoded FROM profiles p CROSS JOIN accounts a ON a.id = p.player
			WHERE p.player = ? AND `+accountExists, func(s *sqlite3.Stmt) store.Profile {
			return store.Profile{Revision: s.ColumnInt64(0), Encoded: blob(s, 1)}
		}, playerID, now)
		return err
	})
	return found, now, err
}

// Update need not wait for the disk: like boards.Record, it precedes the end of the game's job.
func (p profiles) Update(ctx context.Context, playerID string, to store.Profile) error {
	return p.writeUnsynced(ctx, func(c *sqlite3.Conn) error {
		stored, exists, err := one(c, `SELECT coalesce(p.revision, 0) FROM accounts a LEFT JOIN profiles p ON p.player = a.id
			WHERE a.id = ? AND `+accountExists, firstInt, playerID, p.now())
		switch {
		case err != nil || !exists:
			return err
		case stored != to.Revision:
			return refusal{store.ErrMoved}
		}
		return exec(c, "INSERT OR REPLACE INTO profiles (player, revision, encoded) VALUES (?, ?, ?)",
			playerID, to.Revision+1, to.Encoded)
	})
}
