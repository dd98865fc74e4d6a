package sqlite

import (
	"context"
	"time"

	sqlite3 "zombiezen.com/go/sqlite"

	"github.com/gridstand/gridstand/internal/periodic"
)

// sweeps remove expired rows, except games, in batches. Their parameters are the current
// time and the maximum number of rows to remove. Each is repeated until it removes fewer
// rows than that.
var sweeps = []string{
	`DELETE FROM ssh_keys WHERE fingerprint IN (
		SELECT k.fingerprint FROM accounts a CROSS JOIN ssh_keys k ON k.player = a.id WHERE a.expires <= ?1 LIMIT ?2)`,
	`DELETE FROM profiles WHERE player IN (
		SELECT p.player FROM accounts a CROSS JOIN profiles p ON p.player = a.id WHERE a.expires <= ?1 LIMIT ?2)`,
	`DELETE FROM sessions WHERE (player, id) IN (SELECT player, id FROM sessions WHERE expires <= ?1 LIMIT ?2)`,
	`DELETE FROM session_links WHERE player IN (SELECT player FROM session_links WHERE expires <= ?1 LIMIT ?2)`,
	`DELETE FROM accounts WHERE id IN (
		SELECT id FROM accounts a WHERE expires <= ?1
		AND NOT EXISTS (SELECT 1 FROM ssh_keys k WHERE k.player = a.id)
		AND NOT EXISTS (SELECT 1 FROM profiles p WHERE p.player = a.id) LIMIT ?2)`,
	`DELETE FROM scores WHERE (board, player) IN (
		SELECT s.board, s.player FROM boards b CROSS JOIN scores s USING (board) WHERE b.expires <= ?1 LIMIT ?2)`,
	`DELETE FROM score_ranges WHERE (board, score, member) IN (
		SELECT r.board, r.score, r.member FROM boards b CROSS JOIN score_ranges r USING (board) WHERE b.expires <= ?1 LIMIT ?2)`,
	`DELETE FROM boards WHERE board IN (
		SELECT board FROM boards b WHERE expires <= ?1
		AND NOT EXISTS (SELECT 1 FROM scores s WHERE s.board = b.board)
		AND NOT EXISTS (SELECT 1 FROM score_ranges r WHERE r.board = b.board) LIMIT ?2)`,
	`DELETE FROM challenges WHERE id IN (SELECT id FROM challenges WHERE expires <= ?1 LIMIT ?2)`,
}

const (
	// sweepEvery is the interval between sweeps.
	sweepEvery = time.Second
	// sweepRows is the number of rows that one transaction removes. It is small because
	// other writes wait for that transaction.
	sweepRows = 200
)

// Run removes expired data periodically until ctx is done.
func (e *engine) Run(ctx context.Context) {
	failing := false
	periodic.Run(ctx, sweepEvery, func() {
		err := e.background.sweep(ctx)
		if err != nil && !failing && ctx.Err() == nil {
			e.db.logger.Warn("cannot remove expired data; retrying", "id", "not-swept", "error", err)
		}
		failing = err != nil
	})
}

// sweep removes expired data. It need not wait for the disk: data that reappears after a
// power failure is still expired.
func (d *db) sweep(ctx context.Context) error {
	if err := d.saveClock(ctx); err != nil {
		return err
	}
	if err := d.sweepGames(ctx); err != nil {
		return err
	}
	for _, text := range sweeps {
		err := d.repeatUnsynced(ctx, sweepRows, func(c *sqlite3.Conn) (int, error) {
			err := exec(c, text, d.now(), sweepRows)
			return c.Changes(), err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// sweepGames removes expired games, one by one. A game with rows on a corrupt page stays,
// but must not prevent others from being removed.
func (d *db) sweepGames(ctx context.Context) error {
	games, err := readOne(ctx, d, func(c *sqlite3.Conn) ([]int64, error) {
		return all(c, "SELECT game FROM games WHERE expires <= ? LIMIT 1000", firstInt, d.now())
	})
	for _, game := range games {
		if err := d.sweepGame(ctx, game); err != nil && !isCorrupt(err) {
			return err
		}
	}
	return err
}

func (d *db) sweepGame(ctx context.Context, game int64) error {
	return d.repeatUnsynced(ctx, sweepRows, func(c *sqlite3.Conn) (int, error) {
		err := exec(c, "DELETE FROM entries WHERE game = ?1 AND version IN (SELECT version FROM entries WHERE game = ?1 LIMIT ?2)", game, sweepRows)
		removed := c.Changes()
		if err != nil || removed == sweepRows {
			return removed, err
		}
		return removed, removeGame(c, game)
	})
}

// saveClock stores the time at which the clock resumes after a restart. The stored time
// may be up to sweepEvery old, so the clock can go back by that much if the system's
// clock is set back while the server is stopped. Times within a log still never decrease.
//
// The first call resumes the expiry of data.
func (d *db) saveClock(ctx context.Context) error {
	err := d.writeUnsynced(ctx, func(c *sqlite3.Conn) error {
		now := d.now()
		if !d.resumed.Load() {
			if err := resume(c, now); err != nil {
				return err
			}
		}
		return exec(c, "UPDATE clock SET time = max(time, ?)", now)
	})
	if err == nil {
		d.resumed.Store(true)
	}
	return err
}

// resumeAfter is the time without a server after which resume has an effect.
const resumeAfter = time.Minute

// resume postpones the expiry of games, accounts and sessions by the time for which no server has used
// the file, and therefore could not renew them.
func resume(c *sqlite3.Conn, now time.Time) error {
	before, err := number(c, "SELECT time FROM clock")
	away := now.UnixMilli() - before
	if err != nil || before == 0 || away < resumeAfter.Milliseconds() {
		return err
	}
	return execAll(c, []string{
		"UPDATE games SET expires = expires + ? WHERE expires IS NOT NULL",
		"UPDATE accounts SET expires = expires + ? WHERE expires IS NOT NULL",
		"UPDATE sessions SET expires = expires + ? WHERE expires IS NOT NULL",
	}, away)
}
