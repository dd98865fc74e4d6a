package sqlite

import (
	"context"

	sqlite3 "zombiezen.com/go/sqlite"
)

type secrets struct{ *db }

func (s secrets) Secret(ctx context.Context, name string, proposed []byte) ([]byte, error) {
	return writeOne(ctx, s.db, func(c *sqlite3.Conn) (secret []byte, err error) {
		if err := exec(c, "INSERT INTO secrets (name, secret) VALUES (?, ?) ON CONFLICT DO NOTHING", name, proposed); err != nil {
			return nil, err
		}
		err = query(c, "SELECT secret FROM secrets WHERE name = ?", func(s *sqlite3.Stmt) { secret = blob(s, 0) }, name)
		return secret, err
	})
}
