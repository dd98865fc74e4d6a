package sqlite

import (
	"cmp"
	"context"
	"time"

	sqlite3 "zombiezen.com/go/sqlite"

	"github.com/gridstand/gridstand/internal/names"
	"github.com/gridstand/gridstand/server/internal/store"
)

// accounts implements store.Accounts. New accounts and secrets are synced. Renewals are not,
// because accounts are renewed long before they expire.
type accounts struct{ *db }

func (a accounts) Get(ctx context.Context, ids []string) (map[string]store.Account, error) {
	return readOne(ctx, a.db, func(c *sqlite3.Conn) (map[string]store.Account, error) {
		return store.ByID(ids, func(i int) (store.Account, bool, error) { return a.account(c, ids[i]) })
	})
}

// account reads an account, unless it has expired.
func (a accounts) account(c *sqlite3.Conn, id string) (account store.Account, ok bool, err error) {
	return one(c, "SELECT "+accountColumns+" FROM accounts a WHERE id = ? AND "+accountExists, accountAt, id, a.now())
}

// existing is like account, but refuses with store.ErrNoAccount if the account does not exist.
func (a accounts) existing(c *sqlite3.Conn, id string) (store.Account, error) {
	account, ok, err := a.account(c, id)
	if err == nil && !ok {
		err = refusal{store.ErrNoAccount}
	}
	return account, err
}

const (
	accountColumns = "id, name, secret, bot, created, renamed"
	// accountExists is the condition that an account a has not expired by the time in the next parameter.
	accountExists = "(a.expires IS NULL OR a.expires > ?)"
)

// accountAt reads accountColumns.
func accountAt(s *sqlite3.Stmt) store.Account {
	return store.Account{
		ID: s.ColumnText(0), Name: s.ColumnText(1), Secret: s.ColumnText(2), Bot: s.ColumnBool(3),
		Created: timeAt(s, 4), Renamed: timeAt(s, 5),
	}
}

func (a accounts) Holder(ctx context.Context, name string) (string, error) {
	return readOne(ctx, a.db, func(c *sqlite3.Conn) (string, error) { return holderOf(c, name) })
}

// holderOf returns the ID of the account that holds a name, or "" if the name is free.
func holderOf(c *sqlite3.Conn, name string) (string, error) {
	holder, _, err := one(c, "SELECT account FROM names WHERE name = ?", firstText, names.Fold(name))
	return holder, err
}

func (a accounts) Create(ctx context.Context, account store.Account, keep time.Duration) (store.Account, error) {
	return writeOne(ctx, a.db, func(c *sqlite3.Conn) (store.Account, error) { return a.createOn(c, account, keep) })
}

// createOn creates an account unless its name is taken. It returns the account that holds
// the name, or refuses with store.ErrNameHeld if that account does not exist.
func (a accounts) createOn(c *sqlite3.Conn, account store.Account, keep time.Duration) (store.Account, error) {
	holder, err := holderOf(c, account.Name)
	if err != nil {
		return store.Account{}, err
	}
	if holder == "" {
		err := exec(c, "INSERT INTO names (name, account) VALUES (?, ?)", names.Fold(account.Name), account.ID)
		now := a.now()
		if err == nil {
			err = exec(c, "INSERT INTO accounts (id, name, secret, bot, created, expires) VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
				account.ID, account.Name, account.Secret, account.Bot, now, expiry(now, keep))
		}
		if err != nil {
			return store.Account{}, err
		}
	}
	stored, exists, err := a.account(c, cmp.Or(holder, account.ID))
	if err == nil && !exists {
		err = store.ErrNameHeld
		if holder != "" { // otherwise the new row in names must be rolled back
			err = refusal{err}
		}
	}
	return stored, err
}

// expiry returns the value of the expires column for a row that is kept for the duration
// keep from now, or the zero time if keep is 0: the row never expires.
func expiry(now time.Time, keep time.Duration) time.Time {
	if keep <= 0 {
		return time.Time{}
	}
	return now.Add(keep)
}

func (a accounts) Rename(ctx context.Context, id, from, name string, every time.Duration) (stored store.Account, err error) {
	err = a.write(ctx, func(c *sqlite3.Conn) (err error) {
		if stored, err = a.existing(c, id); err != nil {
			return err
		}
		holder, err := holderOf(c, name)
		switch {
		case err != nil:
			return err
		case holder != "" && holder != id:
			return refusal{store.ErrNameHeld}
		}
		now := a.now()
		if stored.Name != from || !stored.Renamed.IsZero() && now.Sub(stored.Renamed) < every {
			return nil
		}
		if err := exec(c, "INSERT OR IGNORE INTO names (name, account) VALUES (?, ?)", names.Fold(name), id); err != nil {
			return err
		}
		if err := exec(c, "UPDATE accounts SET name = ?, renamed = ? WHERE id = ?", name, now, id); err != nil {
			return err
		}
		stored, _, err = a.account(c, id)
		return err
	})
	return stored, err
}

func (a accounts) SetSecret(ctx context.Context, id, from, secret string) error {
	_, err := a.change(ctx, "UPDATE accounts SET secret = ?3 WHERE id = ?1 AND secret = ?2 AND (expires IS NULL OR expires > ?4)",
		id, from, secret, a.now())
	return err
}

func (a accounts) Renew(ctx context.Context, keep time.Duration, ids ...string) error {
	return a.writeUnsynced(ctx, func(c *sqlite3.Conn) error {
		now := a.now()
		return execEach(c, "UPDATE accounts SET expires = ?2 WHERE id = ?1 AND (expires IS NULL OR expires > ?3)", ids,
			expiry(now, keep), now)
	})
}
