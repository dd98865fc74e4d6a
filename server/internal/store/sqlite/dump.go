package sqlite

import (
	"context"
	"errors"
	"fmt"
	"time"

	sqlite3 "zombiezen.com/go/sqlite"

	"github.com/gridstand/gridstand/server/internal/store"
)

// dumper implements store.Dumper.
type dumper struct{ *db }

// dumpEntries is the number of log entries after which an item ends.
const dumpEntries = 500

// Dump implements store.Dumper in one read transaction, so that the dump is consistent.
func (d dumper) Dump(ctx context.Context, put func(store.Item) error) error {
	return d.read(ctx, func(c *sqlite3.Conn) error { return dump(c, d.now(), put) })
}

// lastUsed returns the time at which a server last used an open file, to the second. It is not later
// than the system's time.
func lastUsed(c *sqlite3.Conn) (time.Time, error) {
	now := time.Now()
	ms, err := number(c, "SELECT time FROM clock")
	if at := time.UnixMilli(ms); err == nil && ms > 0 && at.Before(now) {
		return at, nil
	}
	return now, err
}

// Dump calls do with the time at which a server last used the store at path, and with a function that
// calls put with all its data, as of one moment, even while a server is writing to it. It changes
// nothing. Data has expired if it had at that time.
func Dump(
	ctx context.Context, path string, do func(at time.Time, dump func(context.Context, func(store.Item) error) error) error,
) (err error) {
	c, err := connectBeside(ctx, path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.Close()) }()
	if err := exec(c, "BEGIN"); err != nil {
		return failed(err)
	}
	if err := requireLatest(c); err != nil {
		return fmt.Errorf("opening %s: %w", path, err)
	}
	at, err := lastUsed(c)
	if err == nil {
		err = do(at, func(_ context.Context, put func(store.Item) error) error { return dump(c, at, put) })
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if isCorrupt(err) {
		err = fmt.Errorf("%s has a corrupt page; restore a backup, or save what can be read with "+
			`"sqlite3 %s .recover | sqlite3 new.db" (%w)`, path, path, err)
	}
	return failed(err)
}

// dumps holds a query for each kind of data but games, whose only parameter is the current time.
var dumps = []struct {
	text string
	item func(s *sqlite3.Stmt) store.Item
}{
	{"SELECT name, secret FROM secrets WHERE ?1", func(s *sqlite3.Stmt) store.Item {
		return store.Item{Secret: &store.DumpedSecret{Name: s.ColumnText(0), Secret: blob(s, 1)}}
	}},
	{"SELECT name, digest, created FROM ssh_credentials WHERE ?1", func(s *sqlite3.Stmt) store.Item {
		return store.Item{Credential: &store.Credential{Name: s.ColumnText(0), Digest: s.ColumnText(1), Created: timeAt(s, 2)}}
	}},
	{"SELECT player FROM hidden WHERE ?1", func(s *sqlite3.Stmt) store.Item {
		return store.Item{Hidden: &store.DumpedPlayer{PlayerID: s.ColumnText(0)}}
	}},
	{"SELECT id, time, stopped FROM servers WHERE ?1", func(s *sqlite3.Stmt) store.Item {
		server := store.ServerHeartbeat{At: timeAt(s, 1), Left: s.ColumnBool(2)}
		return store.Item{Server: &store.DumpedServer{ServerID: s.ColumnText(0), ServerHeartbeat: server}}
	}},
	{"SELECT " + accountColumns + ", expires FROM accounts a WHERE " + accountExists, func(s *sqlite3.Stmt) store.Item {
		return store.Item{Account: &store.DumpedAccount{Account: accountAt(s), Expires: timeAt(s, 6)}}
	}},
	{`SELECT p.player, p.revision, p.encoded FROM profiles p JOIN accounts a ON a.id = p.player
		WHERE ` + accountExists, func(s *sqlite3.Stmt) store.Item {
		profile := store.Profile{Revision: s.ColumnInt64(1), Encoded: blob(s, 2)}
		return store.Item{Profile: &store.DumpedProfile{PlayerID: s.ColumnText(0), Profile: profile}}
	}},
	{"SELECT name, account FROM names WHERE ?1", func(s *sqlite3.Stmt) store.Item {
		return store.Item{Name: &store.HeldName{Name: s.ColumnText(0), AccountID: s.ColumnText(1)}}
	}},
	{"SELECT " + keyColumns + `, a.expires FROM ssh_keys k JOIN accounts a ON a.id = k.player
		WHERE ` + accountExists, func(s *sqlite3.Stmt) store.Item {
		return store.Item{Key: &store.DumpedKey{Key: keyAt(s), Expires: timeAt(s, 4)}}
	}},
	{"SELECT " + sessionColumns + `, s.expires FROM sessions s JOIN accounts a ON a.id = s.player
		WHERE ` + accountExists + " AND (s.expires IS NULL OR s.expires > ?1)", func(s *sqlite3.Stmt) store.Item {
		return store.Item{Session: &store.DumpedSession{Session: sessionAt(s), Expires: timeAt(s, 4)}}
	}},
	{"SELECT " + challengeColumns + " FROM challenges WHERE expires > ?1", func(s *sqlite3.Stmt) store.Item {
		challenge := challengeAt(s)
		return store.Item{Challenge: &challenge}
	}},
}

// dump calls put with all data that is not expired at the time now, until put or a
// statement fails.
func dump(c *sqlite3.Conn, now time.Time, put func(store.Item) error) error {
	for _, d := range dumps {
		if err := each(c, d.text, func(s *sqlite3.Stmt) error { return put(d.item(s)) }, now); err != nil {
			return err
		}
	}
	const games = `SELECT id, game, version, digest, time, head, expires FROM games
		WHERE expires IS NULL OR expires > ? ORDER BY id`
	return each(c, games, func(s *sqlite3.Stmt) error {
		head := store.DumpedHead{
			GameID: s.ColumnText(0), Last: idAt(s, 2), Time: store.FromMilli(s.ColumnInt64(4)), Encoded: blob(s, 5),
			Expires: timeAt(s, 6),
		}
		return dumpGame(c, head, s.ColumnInt64(1), put)
	}, now)
}

// dumpGame calls put with a game's log and head.
func dumpGame(c *sqlite3.Conn, head store.DumpedHead, game int64, put func(store.Item) error) error {
	log := &store.DumpedLog{GameID: head.GameID}
	err := each(c, "SELECT version, digest, time, raw, seed FROM entries WHERE game = ? ORDER BY version",
		func(s *sqlite3.Stmt) (err error) {
			if log.Entries = append(log.Entries, recordAt(s)); len(log.Entries) == dumpEntries {
				err = put(store.Item{Log: log})
				log = &store.DumpedLog{GameID: head.GameID}
			}
			return err
		}, game)
	if err != nil {
		return err
	}
	if len(log.Entries) > 0 {
		if err := put(store.Item{Log: log}); err != nil {
			return err
		}
	}
	return put(store.Item{Head: &head})
}

// Restore writes the items in one transaction.
func (d dumper) Restore(ctx context.Context, items []store.Item) error {
	return d.write(ctx, func(c *sqlite3.Conn) error {
		for _, item := range items {
			if err := restore(c, item); err != nil {
				return err
			}
		}
		return nil
	})
}

func restore(c *sqlite3.Conn, i store.Item) error {
	switch {
	case i.Secret != nil:
		return exec(c, "INSERT OR REPLACE INTO secrets (name, secret) VALUES (?, ?)", i.Secret.Name, i.Secret.Secret)
	case i.Credential != nil:
		s := i.Credential
		return exec(c, "INSERT OR REPLACE INTO ssh_credentials (name, digest, created) VALUES (?, ?, ?)", s.Name, s.Digest, s.Created)
	case i.Hidden != nil:
		return exec(c, "INSERT OR IGNORE INTO hidden (player) VALUES (?)", i.Hidden.PlayerID)
	case i.Server != nil:
		return putServer(c, i.Server.ServerID, i.Server.ServerHeartbeat)
	case i.Account != nil:
		a := i.Account
		return exec(c, "INSERT OR REPLACE INTO accounts (id, name, secret, bot, created, renamed, expires) VALUES (?, ?, ?, ?, ?, ?, ?)",
			a.ID, a.Name, a.Secret, a.Bot, a.Created, a.Renamed, a.Expires)
	case i.Profile != nil:
		p := i.Profile
		return exec(c, "INSERT OR REPLACE INTO profiles (player, revision, encoded) VALUES (?, ?, ?)", p.PlayerID, p.Revision, p.Encoded)
	case i.Name != nil:
		return exec(c, "INSERT OR REPLACE INTO names (name, account) VALUES (?, ?)", i.Name.Name, i.Name.AccountID)
	case i.Key != nil:
		k := i.Key
		return exec(c, "INSERT OR REPLACE INTO ssh_keys (fingerprint, player, comment, added) VALUES (?, ?, ?, ?)",
			k.Fingerprint, k.PlayerID, k.Comment, k.Added)
	case i.Session != nil:
		s := i.Session
		return exec(c, "INSERT OR REPLACE INTO sessions (player, id, comment, opened, expires) VALUES (?, ?, ?, ?, ?)",
			s.PlayerID, s.ID, s.Comment, s.Opened, s.Expires)
	case i.Challenge != nil:
		return putChallenge(c, *i.Challenge, i.Challenge.Revision)
	default:
		return restoreGame(c, i)
	}
}

// restoreGame writes a game's head, or entries of its log.
func restoreGame(c *sqlite3.Conn, i store.Item) error {
	if h := i.Head; h != nil {
		return exec(c, `INSERT INTO games (id, version, digest, time, head, expires) VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO UPDATE
			SET version = excluded.version, digest = excluded.digest, time = excluded.time, head = excluded.head, expires = excluded.expires`,
			h.GameID, h.Last.Version, h.Last.Digest, store.Milli(h.Time), h.Encoded, h.Expires)
	}
	if i.Log == nil {
		return nil
	}
	game, err := number(c, `INSERT INTO games (id, version, digest, time, head) VALUES (?, 0, 0, 0, x'')
		ON CONFLICT (id) DO UPDATE SET id = id RETURNING game`, i.Log.GameID)
	for _, r := range i.Log.Entries {
		if err == nil {
			err = insertEntry(c, game, store.Entry{Next: r.ID, Raw: r.Raw, Seed: r.Seed}, r.Time)
		}
	}
	return err
}
