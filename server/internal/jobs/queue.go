package jobs

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/gridstand/gridstand/game/replay"
	"github.com/gridstand/gridstand/server/internal/store"
)

const (
	// leaseFor is the duration of a lease.
	leaseFor = 10 * time.Second
	// reclaimWithin limits how far ahead to look for the jobs of a missing server. A server
	// must not postpone a job by more than this unless other servers can tell that the job
	// is urgent.
	reclaimWithin = 30 * time.Second

	// pollEvery is how often the queue is polled for due jobs.
	pollEvery = 500 * time.Millisecond
	// batch is the number of jobs leased together. workers is the number of jobs processed
	// concurrently.
	batch   = 64
	workers = 8
	// maxReclaimed limits the number of jobs that are reclaimed from missing servers. Any other
	// jobs become due when their leases expire, as do those of a lease whose reply was lost.
	maxReclaimed = 10_000
	// handOverWithin limits the time that a stopping server takes to hand over its jobs.
	handOverWithin = time.Second
)

// handler processes a job and returns the time at which it is due next, or zero if it is
// done. If it fails, the next poll makes the job due again. If it runs out of time, or the
// error is replay.ErrUnknown, the job is due again when its lease expires.
type handler func(ctx context.Context, job store.Job) (next time.Time, err error)

// queue is the queue of jobs, with this server's part in processing them. Its methods are safe
// for concurrent use, except poll.
type queue struct {
	store.Queue
	logger *slog.Logger
	// missing is set if the next poll has to reclaim the leases of missing servers.
	missing *atomic.Bool

	mu sync.Mutex
	// retries contains the games whose jobs this server could not process. The next poll makes
	// them due again. Its size is limited by the number of games in memory plus the number of
	// reclaimed jobs.
	retries map[string]struct{}
}

// retry makes jobs due at this server's next poll rather than when their leases expire.
func (q *queue) retry(gameIDs ...string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, id := range gameIDs {
		q.retries[id] = struct{}{}
	}
}

// handOver makes the jobs in the retry queue due, and those of missing servers if this one noticed them
// after its last poll: no other server will. It must be called after the last poll.
func (q *queue) handOver(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), handOverWithin)
	defer cancel()
	if err := q.requeue(ctx); err != nil {
		q.logger.Warn("cannot hand over jobs; they are due again when their leases expire", "id", "games-not-handed-over", "error", err)
	}
}

// poll marks the jobs in the retry queue as due, and then processes all due jobs.
func (q *queue) poll(ctx context.Context, handle handler) {
	if err := q.requeue(ctx); err != nil {
		q.logger.Debug("cannot requeue jobs", "error", err)
		return
	}
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
		// Jobs have half of the lease, so that one which runs out of time is not due again at once.
		leased, cancel := context.WithDeadline(ctx, began.Add(leaseFor/2))
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

// requeue makes the jobs due that are in the retry queue, and those that missing servers leased.
func (q *queue) requeue(ctx context.Context) error {
	if q.missing.Swap(false) {
		// Include the last second, because a lease request may have taken a while to arrive. Some
		// of these jobs may not be leased but scheduled.
		ids, err := q.Due(ctx, -time.Second, reclaimWithin, maxReclaimed)
		if err != nil {
			q.missing.Store(true)
			return err
		}
		q.retry(ids...)
	}
	q.mu.Lock()
	ids := slices.Collect(maps.Keys(q.retries))
	clear(q.retries)
	q.mu.Unlock()
	err := q.EnqueueBy(ctx, store.AtOnce, ids...)
	if err != nil {
		q.retry(ids...)
	}
	return err
}

// process processes a job and acknowledges it.
func (q *queue) process(ctx context.Context, job store.Job, handle handler) {
	next, err := handle(ctx, job)
	if err == nil {
		err = q.Ack(ctx, job, next)
	}
	// A newer server knows the rules of an unknown game, so leave it the job.
	if err != nil && !errors.Is(ctx.Err(), context.DeadlineExceeded) && !errors.Is(err, replay.ErrUnknown) {
		q.retry(job.GameID)
	}
	if err != nil && !errors.Is(err, context.Canceled) {
		q.logger.Warn("job failed; it will be retried", "id", "game-retried", "game", job.GameID, "error", err)
	}
}
