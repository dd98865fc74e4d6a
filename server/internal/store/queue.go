package store

import (
	"context"
	"time"
)

// Job is a leased job: a game for which something is due.
type Job struct {
	GameID string
	// Leased is the time at which the lease began, and Expires the time at which it ends,
	// by the store's clock.
	Leased, Expires time.Time
}

// AtOnce is the time of a job that is due before all others.
var AtOnce = time.UnixMilli(0)

// Queue is a delayed-job queue with leases. A job consists of a game's ID and the time at
// which something is due for that game; a game has at most one job. Times are by the
// store's clock, to the millisecond.
//
// A leased job is stored like a scheduled one: its time is the end of the lease. If that
// time changes, the lease has ended.
type Queue interface {
	// Hold schedules the game's job, even if it is already due earlier or leased, and returns its
	// time: after the given delay from now or, if that is later, from the time last, but not after the
	// time latest unless that is zero. A server calls it before it appends to the game: if it appends
	// only before the returned time, no server processes the job without the entry. last is the time of
	// the game's last entry, before which no entry can be, even if the clock goes back. latest is the time
	// from which the entry is refused: a call that comes later cannot postpone the job.
	Hold(ctx context.Context, gameID string, delay time.Duration, last, latest time.Time) (time.Time, error)
	// EnqueueBy schedules the games' jobs for the given time, unless they are already due
	// earlier. An existing lease remains in effect if it ends earlier.
	EnqueueBy(ctx context.Context, at time.Time, gameIDs ...string) error
	// EnqueueMissing adds a job that is due AtOnce for each of the given games that has
	// none.
	EnqueueMissing(ctx context.Context, gameIDs ...string) error
	// Scheduled returns the time of the game's job, or zero if it has none.
	Scheduled(ctx context.Context, gameID string) (time.Time, error)
	// Remove removes the game's job.
	Remove(ctx context.Context, gameID string) error
	// Lease leases up to n due jobs for the duration d. If it returns an error, jobs may
	// have been leased anyway.
	Lease(ctx context.Context, n int, d time.Duration) ([]Job, error)
	// Ack ends a lease. The job becomes due at next, or is removed if next is zero. If
	// the lease has already ended, that is, if the job's time is not job.Expires, Ack does
	// nothing.
	Ack(ctx context.Context, job Job, next time.Time) error
}
