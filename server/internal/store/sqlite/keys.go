package sqlite

import (
	"context"
	"time"

	sqlite3 "zombiezen.com/go/sqlite"

	"github.com/gridstand/gridstand/server/internal/store"
)

// keys implements store.Keys.
type keys struct{ accounts }

func (k keys) Owner(ctx context.Context, fingerprint string) (owner store.Account, found bool, err error) {
	err = k.read(ctx, func(c *sqlite3.Conn) (err error) {
		owner, found, err = k.owner(c, fingerprint)
		return err
	})
	return owner, found, err
}

func (k keys) owner(c *sqlite3.Conn, fingerprint string) (store.Account, bool, error) {
	return one(c, "SELECT "+accountColumns+` FROM ssh_keys k CROSS JOIN accounts a ON a.id = k.player
		WHERE k.fingerprint = ? AND `+accountExists, accountAt, fingerprint, k.now())
}

func (k keys) Create(
	ctx context.Context, a store.Account, keep time.Duration, fingerprint string,
) (store.Account, error) {
	return writeOne(ctx, k.db, func(c *sqlite3.Conn) (store.Account, error) {
		holder, linked, err := k.owner(c, fingerprint)
		switch {
		case err != nil:
			return store.Account{}, err
		case linked && holder.ID != a.ID:
			return store.Account{}, refusal{store.ErrKeyHeld}
		case linked:
			return holder, nil
		}
		holder, err = k.createOn(c, a, keep)
		if err == nil && holder.ID == a.ID && holder.Secret == a.Secret {
			err = k.link(c, store.Key{Fingerprint: fingerprint, PlayerID: a.ID})
		}
		return holder, err
	})
}

// link links a key to an account. The key must not be linked to another existing account,
// but may still be linked to one that has expired.
func (k keys) link(c *sqlite3.Conn, key store.Key) error {
	return exec(c, "INSERT OR REPLACE INTO ssh_keys (fingerprint, player, comment, added) VALUES (?, ?, ?, ?)",
		key.Fingerprint, key.PlayerID, key.Comment, k.now())
}

func (k keys) Link(ctx context.Context, key store.Key, limit int) (store.Key, error) {
	return writeOne(ctx, k.db, func(c *sqlite3.Conn) (stored store.Key, err error) {
		if _, err := k.existing(c, key.PlayerID); err != nil {
			return stored, err
		}
		owner, linked, err := k.owner(c, key.Fingerprint)
		switch {
		case err != nil:
			return stored, err
		case linked && owner.ID != key.PlayerID:
			return stored, refusal{store.ErrKeyHeld}
		}
		if !linked {
			others, err := k.of(c, key.PlayerID)
			switch {
			case err != nil:
				return stored, err
			case limit > 0 && len(others) >= limit:
				return stored, refusal{store.ErrTooManyKeys}
			}
			if err := k.link(c, key); err != nil {
				return stored, err
			}
		}
		stored, _, err = one(c, "SELECT "+keyColumns+" FROM ssh_keys k WHERE fingerprint = ?", keyAt, key.Fingerprint)
		return stored, err
	})
}

func (k keys) Unlink(ctx context.Context, playerID, fingerprint string) (bool, error) {
	return k.change(ctx, "DELETE FROM ssh_keys WHERE fingerprint = ? AND player = ?", fingerprint, playerID)
}

func (k keys) Keys(ctx context.Context, playerID string) ([]store.Key, error) {
	return readOne(ctx, k.db, func(c *sqlite3.Conn) ([]store.Key, error) { return k.of(c, playerID) })
}

// of lists the keys of an account.
func (k keys) of(c *sqlite3.Conn, playerID string) ([]store.Key, error) {
	return all(c, "SELECT "+keyColumns+` FROM ssh_keys k JOIN accounts a ON a.id = k.player
		WHERE a.id = ? AND `+accountExists+" ORDER BY k.added, k.fingerprint", keyAt, playerID, k.now())
}

const keyColumns = "k.fingerprint, k.player, k.comment, k.added"

// keyAt reads keyColumns.
func keyAt(s *sqlite3.Stmt) store.Key {
	return store.Key{Fingerprint: s.ColumnText(0), PlayerID: s.ColumnText(1), Comment: s.ColumnText(2), Added: timeAt(s, 3)}
}

// credentials implements store.Credentials.
type credentials struct{ *db }

func (s credentials) Add(ctx context.Context, credential store.Credential) (bool, error) {
	return s.change(ctx, "INSERT INTO ssh_credentials (name, digest, created) VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
		credential.Name, credential.Digest, s.now())
}

func (s credentials) All(ctx context.Context) ([]store.Credential, error) {
	return readOne(ctx, s.db, func(c *sqlite3.Conn) ([]store.Credential, error) {
		return all(c, "SELECT name, digest, created FROM ssh_credentials ORDER BY name", func(s *sqlite3.Stmt) store.Credential {
			return store.Credential{Name: s.ColumnText(0), Digest: s.ColumnText(1), Created: timeAt(s, 2)}
		})
	})
}

func (s credentials) Remove(ctx context.Context, name string) (bool, error) {
	return s.change(ctx, "DELETE FROM ssh_credentials WHERE name = ?", name)
}
