package sqlite

import (
	"context"
	"time"

	sqlite3 "zombiezen.com/go/sqlite"

	"github.com/gridstand/gridstand/server/internal/store"
)

// sessions implements store.Sessions.
type sessions struct{ accounts }

func (s sessions) Offer(ctx context.Context, playerID, link string, valid time.Duration) (expires time.Time, err error) {
	err = s.write(ctx, func(c *sqlite3.Conn) error {
		if _, err := s.existing(c, playerID); err != nil {
			return err
		}
		expires = s.now().Add(valid)
		return exec(c, "INSERT OR REPLACE INTO session_links (player, link, session, expires) VALUES (?, ?, '', ?)",
			playerID, link, expires)
	})
	return expires, err
}

func (s sessions) Open(
	ctx context.Context, link string, given store.Session, limit int, keep time.Duration,
) (store.Session, error) {
	return writeOne(ctx, s.db, func(c *sqlite3.Conn) (store.Session, error) {
		stored, found, err := s.opened(c, link, given.ID)
		if err != nil || found {
			return stored, err
		}
		now := s.now()
		playerID, unused, err := one(c, `SELECT l.player FROM session_links l CROSS JOIN accounts a ON a.id = l.player
			WHERE l.link = ? AND l.session = '' AND l.expires > ? AND `+accountExists, firstText, link, now, now)
		switch {
		case err != nil:
			return stored, err
		case !unused:
			return stored, refusal{store.ErrNoLink}
		}
		open, err := s.of(c, playerID)
		switch {
		case err != nil:
			return stored, err
		case len(open) >= limit:
			return stored, refusal{store.ErrTooManySessions}
		}
		if err := exec(c, "INSERT OR REPLACE INTO sessions (player, id, comment, opened, expires) VALUES (?, ?, ?, ?, ?)",
			playerID, given.ID, given.Comment, now, expiry(now, keep)); err != nil {
			return stored, err
		}
		if err := exec(c, "UPDATE session_links SET session = ? WHERE player = ?", given.ID, playerID); err != nil {
			return stored, err
		}
		stored, _, err = s.opened(c, link, given.ID)
		return stored, err
	})
}

// opened returns the session with the given ID if the link has opened it.
func (s sessions) opened(c *sqlite3.Conn, link, id string) (store.Session, bool, error) {
	now := s.now()
	return one(c, "SELECT "+sessionColumns+` FROM session_links l JOIN sessions s ON s.player = l.player AND s.id = l.session
		WHERE l.link = ? AND l.session = ? AND l.expires > ? AND `+unexpired, sessionAt, link, id, now, now)
}

const (
	sessionColumns = "s.player, s.id, s.comment, s.opened"
	unexpired      = "(s.expires IS NULL OR s.expires > ?)"
)

// sessionAt reads sessionColumns.
func sessionAt(s *sqlite3.Stmt) store.Session {
	return store.Session{PlayerID: s.ColumnText(0), ID: s.ColumnText(1), Comment: s.ColumnText(2), Opened: timeAt(s, 3)}
}

// of lists the sessions of an account.
func (s sessions) of(c *sqlite3.Conn, playerID string) ([]store.Session, error) {
	now := s.now()
	return all(c, "SELECT "+sessionColumns+` FROM sessions s JOIN accounts a ON a.id = s.player
		WHERE a.id = ? AND `+accountExists+" AND "+unexpired+" ORDER BY s.opened, s.id", sessionAt, playerID, now, now)
}

func (s sessions) Sessions(ctx context.Context, playerID string) ([]store.Session, error) {
	return readOne(ctx, s.db, func(c *sqlite3.Conn) ([]store.Session, error) { return s.of(c, playerID) })
}

func (s sessions) Renew(ctx context.Context, playerID, id string, keep time.Duration) error {
	return s.writeUnsynced(ctx, func(c *sqlite3.Conn) error {
		now := s.now()
		return exec(c, "UPDATE sessions SET expires = ? WHERE player = ? AND id = ? AND (expires IS NULL OR expires > ?)", expiry(now, keep), playerID, id, now)
	})
}

func (s sessions) End(ctx context.Context, playerID, id string) (bool, error) {
	return s.change(ctx, "DELETE FROM sessions WHERE player = ? AND id = ?", playerID, id)
}
