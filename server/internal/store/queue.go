package store

import (
	"context"
	"time"
)

// Job is a game that was leased because something is due with it.
type Job struct {
	GameID string
	// Leased is when the lease began, and Expires when it ends, by the store's clock.
	Leased, Expires time.Time
}

// Queue is a delayed-job queue with leases. A job is the id of a game with the time at
// which something is due with it; a game has one job at most. Times are to the
// millisecond, by the store's clock.
//
// A lease is a time to come, like that of a scheduled job. Whatever is enqueued for the
// game in between changes the time, by a millisecond at least, and so ends the lease.
type Queue interface {
	// EnqueueIn schedules a job after a delay, unless it is due earlier.
	EnqueueIn(ctx context.Context, gameID string, delay time.Duration) error
	// EnqueueBy schedules a job for a time, unless it is due earlier. It need not end
	// a lease.
	EnqueueBy(ctx context.Context, gameID string, at time.Time) error
	// Set schedules a job for a time, also if it was due earlier.
	Set(ctx context.Context, gameID string, at time.Time) error
	// EnqueueMissing makes jobs due for the games that have none.
	EnqueueMissing(ctx context.Context, gameIDs ...string) error
	// EnqueueNow makes jobs due, also those that are leased.
	EnqueueNow(ctx context.Context, gameIDs ...string) error
	// Remove removes a job.
	Remove(ctx context.Context, gameID string) error
	// Lease leases up to n jobs that are due, for the given time. After an error the
	// jobs may have been leased all the same; the call is sent once only.
	Lease(ctx context.Context, n int, d time.Duration) ([]Job, error)
	// Ack ends a lease: the job is due next at the given time, or removed if that is
	// zero. If the lease has ended, Ack does nothing.
	Ack(ctx context.Context, job Job, next time.Time) error
	// Due returns up to n games whose jobs are scheduled, or leased, between two
	// times relative to now.
	Due(ctx context.Context, from, to time.Duration, n int) ([]string, error)
}
