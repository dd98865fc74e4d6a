package scheduler

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

	"github.com/gridstand/gridstand/server/internal/periodic"
	"github.com/gridstand/gridstand/server/internal/store"
)

const (
	// LeaseFor is how long a server has a job to itself.
	LeaseFor = 10 * time.Second
	// ReclaimWithin is how far ahead the jobs of a missing server are looked for:
	// servers put off no job for longer that only they know to be urgent.
	ReclaimWithin = 30 * time.Second

	// pollEvery is how often the queue is asked for jobs that are due.
	pollEvery = 500 * time.Millisecond
	// batch is how many jobs are leased at once, and workers how many of them are
	// processed at the same time.
	batch   = 64
	workers = 8
	// maxReclaimed bounds the jobs that are looked for after a lost reply, or of
	// missing servers. The leases of the others expire.
	maxReclaimed = 10_000
	// handOverWithin bounds how long a server that stops takes to hand over.
	handOverWithin = time.Second
)

// Handler processes a job and returns when it is due next, zero for never. If it
// fails the job is due again when its lease expires, or earlier after Retry.
type Handler func(ctx context.Context, job store.Job) (next time.Time, err error)

// Scheduler is the queue, and processes jobs on this server. Its methods may be
// called concurrently, but Run only once.
type Scheduler struct {
	store.Queue
	logger *slog.Logger

	// unackedLease is the start of the oldest lease request whose reply was lost,
	// zero for none. Only poll uses it.
	unackedLease time.Time
	// reclaim is set while leases of missing servers are to be reclaimed.
	reclaim atomic.Bool

	mu sync.Mutex
	// retries are the games whose jobs this server could not process and makes due
	// again with the next poll. They are at most those that it has in memory and
	// those that were looked for.
	retries map[string]struct{}
}

// New makes a Scheduler.
func New(queue store.Queue, logger *slog.Logger) *Scheduler {
	return &Scheduler{Queue: queue, logger: logger, retries: map[string]struct{}{}}
}

// Run leases jobs and has them processed until ctx ends.
func (s *Scheduler) Run(ctx context.Context, handle Handler) {
	periodic.Run(ctx, pollEvery, func() { s.poll(ctx, handle) })
}

// Retry makes jobs due with the next poll of this server, rather than when their
// leases expire.
func (s *Scheduler) Retry(gameIDs ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, id := range gameIDs {
		s.retries[id] = struct{}{}
	}
}

// Reclaim makes jobs due that other servers may have leased, as when they died,
// with the next poll.
func (s *Scheduler) Reclaim() { s.reclaim.Store(true) }

// HandOver makes the jobs in the retry queue due for the other servers. It is
// called after Run.
func (s *Scheduler) HandOver(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), handOverWithin)
	defer cancel()
	if err := s.enqueueRetries(ctx); err != nil {
		s.logger.Warn("jobs not handed over; they are due again when their leases expire", "id", "games-not-handed-over", "error", err)
	}
}

// enqueueRetries makes the jobs in the retry queue due.
func (s *Scheduler) enqueueRetries(ctx context.Context) error {
	s.mu.Lock()
	ids := slices.Collect(maps.Keys(s.retries))
	clear(s.retries)
	s.mu.Unlock()
	err := s.EnqueueNow(ctx, ids...)
	if err != nil {
		s.Retry(ids...)
	}
	return err
}

// poll processes all jobs that are due, after those that are to be retried were
// made due.
func (s *Scheduler) poll(ctx context.Context, handle Handler) {
	if err := s.requeue(ctx); err != nil {
		s.logger.Debug("cannot requeue jobs", "error", err)
		return
	}
	for ctx.Err() == nil {
		began := time.Now()
		jobs, err := s.Lease(ctx, batch, LeaseFor)
		if err != nil {
			s.unackedLease = began
			s.logger.Debug("cannot lease jobs", "error", err)
			return
		}
		// In random order, so that games that a part of the store does not answer for
		// do not delay the same others each time.
		rand.Shuffle(len(jobs), func(i, j int) { jobs[i], jobs[j] = jobs[j], jobs[i] })
		leased, cancel := context.WithDeadline(ctx, began.Add(LeaseFor))
		var group errgroup.Group
		group.SetLimit(workers)
		for _, job := range jobs {
			group.Go(func() error {
				s.process(leased, job, handle)
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

// requeue makes due the jobs in the retry queue, those whose lease this server was
// not told of, and those that missing servers leased.
func (s *Scheduler) requeue(ctx context.Context) error {
	if !s.unackedLease.IsZero() {
		ids, err := s.leased(ctx, time.Since(s.unackedLease), LeaseFor)
		if err != nil {
			return err
		}
		s.Retry(ids...)
		s.unackedLease = time.Time{}
	}
	if s.reclaim.Swap(false) {
		ids, err := s.leased(ctx, ReclaimWithin, ReclaimWithin)
		if err != nil {
			s.Reclaim()
			return err
		}
		s.Retry(ids...)
	}
	return s.enqueueRetries(ctx)
}

// leased returns the games whose jobs may have been leased, by any server, for d
// and since that long ago. Scheduled jobs of the same times are among them.
func (s *Scheduler) leased(ctx context.Context, ago, d time.Duration) ([]string, error) {
	ago += time.Second // The question may take long to arrive.
	return s.Due(ctx, d-ago, d, maxReclaimed)
}

// process has a job processed and acknowledges it.
func (s *Scheduler) process(ctx context.Context, job store.Job, handle Handler) {
	next, err := handle(ctx, job)
	if err == nil {
		if err = s.Ack(ctx, job, next); err != nil {
			s.Retry(job.GameID)
		}
	}
	if err != nil && !errors.Is(err, context.Canceled) {
		s.logger.Warn("job failed; it will be retried", "id", "game-retried", "game", job.GameID, "error", err)
	}
}
