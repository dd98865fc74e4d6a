package sqlite

import (
	"context"
	"time"

	sqlite3 "zombiezen.com/go/sqlite"

	"github.com/gridstand/gridstand/server/internal/store"
)

// queue implements store.Queue. Its writes are unsynced: a job is enqueued before the
// entry that makes it necessary is appended, and a lease or job that reappears after a
// power failure is merely processed again.
type queue struct{ db *db }

// Hold implements store.Queue. If the job is due at that time already, which may be the end of a lease, its
// time changes by a millisecond.
func (q queue) Hold(
	ctx context.Context, gameID string, delay time.Duration, last, latest time.Time,
) (at time.Time, err error) {
	const hold = `INSERT INTO jobs VALUES (?, ?)
		ON CONFLICT DO UPDATE SET due = excluded.due - (due = excluded.due) RETURNING due`
	until := later(q.db.now(), last).Add(delay)
	if !latest.IsZero() && latest.Before(until) {
		until = latest
	}
	err = q.db.writeUnsynced(ctx, func(c *sqlite3.Conn) error {
		return query(c, hold, func(s *sqlite3.Stmt) { at = timeAt(s, 0) }, gameID, until)
	})
	return at, err
}

// exec runs a statement.
func (q queue) exec(ctx context.Context, text string, args ...any) error {
	return q.db.writeUnsynced(ctx, func(c *sqlite3.Conn) error { return exec(c, text, args...) })
}

func (q queue) EnqueueBy(ctx context.Context, at time.Time, gameIDs ...string) error {
	return q.each(ctx, "INSERT INTO jobs VALUES (?, ?) ON CONFLICT DO UPDATE SET due = min(excluded.due, due)", at, gameIDs)
}

func (q queue) EnqueueMissing(ctx context.Context, gameIDs ...string) error {
	return q.each(ctx, "INSERT INTO jobs VALUES (?, ?) ON CONFLICT DO NOTHING", store.AtOnce, gameIDs)
}

// each runs a statement for each of the games and the given time.
func (q queue) each(ctx context.Context, text string, at time.Time, gameIDs []string) error {
	if len(gameIDs) == 0 {
		return nil
	}
	return q.db.writeUnsynced(ctx, func(c *sqlite3.Conn) error { return execEach(c, text, gameIDs, at) })
}

func (q queue) Scheduled(ctx context.Context, gameID string) (time.Time, error) {
	return readOne(ctx, q.db, func(c *sqlite3.Conn) (at time.Time, err error) {
		err = query(c, "SELECT due FROM jobs WHERE game = ?", func(s *sqlite3.Stmt) { at = timeAt(s, 0) }, gameID)
		return at, err
	})
}

func (q queue) Remove(ctx context.Context, gameID string) error {
	return q.exec(ctx, "DELETE FROM jobs WHERE game = ?", gameID)
}

// leaseJobs changes the times of the jobs that have been due for longest, and returns their games.
const leaseJobs = `UPDATE jobs SET due = ?
	WHERE game IN (SELECT game FROM jobs WHERE due <= ? ORDER BY due LIMIT ?) RETURNING game`

// Lease implements store.Queue. It writes only if a job is due, because an idle server
// calls it twice a second.
func (q queue) Lease(ctx context.Context, n int, d time.Duration) (jobs []store.Job, err error) {
	due, err := readOne(ctx, q.db, func(c *sqlite3.Conn) (bool, error) {
		return has(c, "SELECT 1 FROM jobs WHERE due <= ? LIMIT 1", q.db.now())
	})
	if err == nil && due {
		err = q.db.writeUnsynced(ctx, func(c *sqlite3.Conn) (err error) {
			now := q.db.now()
			expires := now.Add(d).Truncate(time.Millisecond)
			jobs, err = all(c, leaseJobs, func(s *sqlite3.Stmt) store.Job {
				return store.Job{GameID: s.ColumnText(0), Leased: now, Expires: expires}
			}, expires, now, n)
			return err
		})
	}
	return jobs, err
}

func (q queue) Ack(ctx context.Context, job store.Job, next time.Time) error {
	if next.IsZero() {
		return q.exec(ctx, "DELETE FROM jobs WHERE game = ? AND due = ?", job.GameID, job.Expires)
	}
	return q.exec(ctx, "UPDATE jobs SET due = ? WHERE game = ? AND due = ?", next, job.GameID, job.Expires)
}
