package sqlite

import (
	"context"
	"fmt"
	"time"

	sqlite3 "zombiezen.com/go/sqlite"

	"github.com/gridstand/gridstand/server/internal/store"
)

// queue implements store.Queue. It writes unsynced: a job is enqueued before what it
// waits for is appended, and a lease or job that comes back after a power failure is
// processed once more.
type queue struct{ db *db }

// EnqueueIn implements store.Queue. A time that is earlier may be a lease, which ends
// because it moves by a millisecond.
func (q queue) EnqueueIn(ctx context.Context, gameID string, delay time.Duration) error {
	return q.enqueue(ctx, func(c *sqlite3.Conn) error {
		return exec(c, "INSERT INTO jobs VALUES (?, ?) ON CONFLICT DO UPDATE SET due = min(excluded.due, due - 1)",
			gameID, q.db.now()+delay.Milliseconds())
	})
}

// EnqueueBy implements store.Queue.
func (q queue) EnqueueBy(ctx context.Context, gameID string, at time.Time) error {
	return q.enqueue(ctx, func(c *sqlite3.Conn) error {
		return exec(c, "INSERT INTO jobs VALUES (?, ?) ON CONFLICT DO UPDATE SET due = min(excluded.due, due)",
			gameID, at.UnixMilli())
	})
}

// Set implements store.Queue.
func (q queue) Set(ctx context.Context, gameID string, at time.Time) error {
	return q.enqueue(ctx, func(c *sqlite3.Conn) error {
		return exec(c, "INSERT INTO jobs VALUES (?, ?) ON CONFLICT DO UPDATE SET due = excluded.due",
			gameID, at.UnixMilli())
	})
}

// EnqueueMissing implements store.Queue.
func (q queue) EnqueueMissing(ctx context.Context, gameIDs ...string) error {
	return q.each(ctx, "INSERT INTO jobs VALUES (?, 0) ON CONFLICT DO NOTHING", gameIDs)
}

// EnqueueNow implements store.Queue.
func (q queue) EnqueueNow(ctx context.Context, gameIDs ...string) error {
	return q.each(ctx, "INSERT INTO jobs VALUES (?, 0) ON CONFLICT DO UPDATE SET due = min(due, 0)", gameIDs)
}

// each runs a statement with each of the games.
func (q queue) each(ctx context.Context, text string, gameIDs []string) error {
	if len(gameIDs) == 0 {
		return nil
	}
	return q.enqueue(ctx, func(c *sqlite3.Conn) error {
		for _, gameID := range gameIDs {
			if err := exec(c, text, gameID); err != nil {
				return err
			}
		}
		return nil
	})
}

func (q queue) enqueue(ctx context.Context, work func(c *sqlite3.Conn) error) error {
	if err := q.db.writeUnsynced(ctx, work); err != nil {
		return fmt.Errorf("enqueueing: %w", err)
	}
	return nil
}

// Remove implements store.Queue.
func (q queue) Remove(ctx context.Context, gameID string) error {
	err := q.db.writeUnsynced(ctx, func(c *sqlite3.Conn) error {
		return exec(c, "DELETE FROM jobs WHERE game = ?", gameID)
	})
	if err != nil {
		return fmt.Errorf("removing a job: %w", err)
	}
	return nil
}

// Lease implements store.Queue. It writes only if something is due: an idle server
// asks twice a second.
func (q queue) Lease(ctx context.Context, n int, d time.Duration) ([]store.Job, error) {
	due := false
	err := q.db.read(ctx, func(c *sqlite3.Conn) error {
		return query(c, "SELECT 1 FROM jobs WHERE due <= ? LIMIT 1", func(*sqlite3.Stmt) error {
			due = true
			return nil
		}, q.db.now())
	})
	var jobs []store.Job
	if err == nil && due {
		err = q.db.writeUnsynced(ctx, func(c *sqlite3.Conn) (err error) {
			jobs, err = q.lease(c, n, d)
			return err
		})
	}
	if err != nil {
		return nil, fmt.Errorf("leasing jobs: %w", err)
	}
	return jobs, nil
}

func (q queue) lease(c *sqlite3.Conn, n int, d time.Duration) (jobs []store.Job, err error) {
	now := q.db.now()
	expires := time.UnixMilli(now + d.Milliseconds())
	err = query(c, "SELECT game FROM jobs WHERE due <= ? ORDER BY due LIMIT ?", func(s *sqlite3.Stmt) error {
		jobs = append(jobs, store.Job{GameID: s.ColumnText(0), Leased: time.UnixMilli(now), Expires: expires})
		return nil
	}, now, n)
	for _, job := range jobs {
		if err == nil {
			err = exec(c, "UPDATE jobs SET due = ? WHERE game = ?", expires, job.GameID)
		}
	}
	return jobs, err
}

// Ack implements store.Queue.
func (q queue) Ack(ctx context.Context, job store.Job, next time.Time) error {
	err := q.db.writeUnsynced(ctx, func(c *sqlite3.Conn) error {
		if next.IsZero() {
			return exec(c, "DELETE FROM jobs WHERE game = ? AND due = ?", job.GameID, job.Expires)
		}
		return exec(c, "UPDATE jobs SET due = ? WHERE game = ? AND due = ?", next, job.GameID, job.Expires)
	})
	if err != nil {
		return fmt.Errorf("acknowledging a job: %w", err)
	}
	return nil
}

// Due implements store.Queue.
func (q queue) Due(ctx context.Context, from, to time.Duration, n int) (ids []string, err error) {
	err = q.db.read(ctx, func(c *sqlite3.Conn) error {
		now := q.db.now()
		ids = nil
		return query(c, "SELECT game FROM jobs WHERE due BETWEEN ? AND ? ORDER BY due LIMIT ?", func(s *sqlite3.Stmt) error {
			ids = append(ids, s.ColumnText(0))
			return nil
		}, now+from.Milliseconds(), now+to.Milliseconds(), n)
	})
	if err != nil {
		return nil, fmt.Errorf("looking for jobs: %w", err)
	}
	return ids, nil
}
