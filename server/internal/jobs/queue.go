package jobs

import (
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/gridstand/gridstand/server/internal/store"
)

const (
	// leaseFor is the duration of a lease and of a hold. The jobs of a server that dies, and jobs that fail,
	// wait this long. It is longer than a bot takes to move, so that no other server lets it think, too
	// (unless --bot-pace is longer), and than an append takes to arrive, which is refused after a hold.
	leaseFor = 5 * time.Second
	// processWithin limits how long jobs that are leased together may take, with their Acks. An Ack after the
	// lease has no effect.
	processWithin = leaseFor - time.Second

	// pollEvery is how often the queue is polled for due jobs.
	pollEvery = 500 * time.Millisecond
	// batch is the number of jobs leased together. workers is the number of jobs processed
	// concurrently.
	batch   = 64
	workers = 8
)

// handler processes a job and returns the time at which it is due next, or zero if it is
// done. If it fails, the job is due again when its lease expires.
type handler func(ctx context.Context, job store.Job) (next time.Time, err error)

// queue is the queue of jobs, with this server's part in processing them. Its methods are safe
// for concurrent use, except poll.
type queue struct {
	store.Queue
	logger *slog.Logger
}

// poll processes all due jobs.
func (q *queue) poll(ctx context.Context, handle handler) {
	for ctx.Err() == nil {
		began := time.Now()
		jobs, err := q.Lease(ctx, batch, leaseFor)
		if err != nil {
			q.logger.Debug("cannot lease jobs", "error", err)
			return
		}
		// Shuffle the jobs, so that games on an unavailable part of the store do not delay
		// the same other games every time.
		rand.Shuffle(len(jobs), func(i, j int) { jobs[i], jobs[j] = jobs[j], jobs[i] })
		leased, cancel := context.WithDeadline(ctx, began.Add(processWithin))
		var group errgroup.Group
		group.SetLimit(workers)
		for _, job := range jobs {
			group.Go(func() error {
				q.process(leased, job, handle)
				return nil
			})
		}
		_ = group.Wait()
		cancel()
		if len(jobs) < batch {
			return
		}
	}
}

// process processes a job and acknowledges it.
func (q *queue) process(ctx context.Context, job store.Job, handle handler) {
	next, err := handle(ctx, job)
	if err == nil {
		err = q.Ack(ctx, job, next)
	}
	if err != nil && !errors.Is(err, context.Canceled) {
		q.logger.Warn("job failed; it will be retried", "id", "game-retried", "game", job.GameID, "error", err)
	}
}
