package sqlite

import (
	"context"

	sqlite3 "zombiezen.com/go/sqlite"
)

type secrets struct{ *db }

func (s secrets) Secret(ctx context.Context, name string, proposed []byte) ([]byte, error) {
	var secret []byte
	stored := func(c *sqlite3.Conn) error {
		return query(c, "SELECT secret FROM secrets WHERE name = ?", func(s *sqlite3.Stmt) { secret = blob(s, 0) }, name)
	}
	// Try to read the secret first: after the first call it exists, and reading does not
	// wait for the writer.
	if err := s.read(ctx, stored); err != nil || secret != nil {
		return secret, err
	}
	err := s.write(ctx, func(c *sqlite3.Conn) error {
		if err := exec(c, "INSERT INTO secrets (name, secret) VALUES (?, ?) ON CONFLICT DO NOTHING", name, proposed); err != nil {
			return err
		}
		return stored(c)
	})
	return secret, err
}
