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
	return found, now, wrap("reading a profile", err)
}

func (p profiles) Update(ctx context.Context, playerID string, to store.Profile) error {
	return wrap("writing a profile", p.write(ctx, func(c *sqlite3.Conn) (err error) {
		now := p.now()
		if to.Revision == 0 {
			err = exec(c, `INSERT INTO profiles (player, revision, encoded)
				SELECT id, 1, ?2 FROM accounts WHERE id = ?1 AND (expires IS NULL OR expires > ?3) ON CONFLICT DO NOTHING`, playerID, to.Encoded, now)
		} else {
			err = exec(c, "UPDATE profiles SET revision = revision + 1, encoded = ?2 WHERE player = ?1 AND revision = ?3", playerID, to.Encoded, to.Revision)
		}
		if err != nil || c.Changes() > 0 {
			return err
		}
		exists, err := has(c, "SELECT 1 FROM accounts a WHERE id = ? AND "+accountExists, playerID, now)
		if err == nil && exists {
			err = refusal{store.ErrMoved}
		}
		return err
	}))
}
