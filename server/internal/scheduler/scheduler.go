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
	// LeaseFor is the duration of a lease.
	LeaseFor = 10 * time.Second
	// ReclaimWithin limits how far ahead to look for the jobs of a missing server. A server
	// must not postpone a job by more than this unless other servers can tell that the job
	// is urgent.
	ReclaimWithin = 30 * time.Second

	// pollEvery is how often the queue is polled for due jobs.
	pollEvery = 500 * time.Millisecond
	// batch is the number of jobs leased together. workers is the number of jobs processed
	// concurrently.
	batch   = 64
	workers = 8
	// maxReclaimed limits the number of jobs that are reclaimed after a lost reply or from
	// missing servers. Any other jobs become due when their leases expire.
	maxReclaimed = 10_000
	// handOverWithin limits the time that a stopping server takes to hand over its jobs.
	handOverWithin = time.Second
)

// Handler processes a job and returns the time at which it is due next, or zero if it is
// done. If the handler fails, the job is due again when its lease expires, or earlier after
// Retry.
type Handler func(ctx context.Context, job store.Job) (next time.Time, err error)

// Scheduler gives access to the queue and processes jobs on this server. Its methods are safe
// for concurrent use, but Run may be called only once.
type Scheduler struct {
	store.Queue
	logger *slog.Logger

	// unackedLease is the start time of the oldest lease request whose reply was lost, or zero
	// if no reply was lost. Only poll uses it.
	unackedLease time.Time
	// reclaim is true if the next poll has to reclaim the leases of missing servers.
	reclaim atomic.Bool

	mu sync.Mutex
	// retries contains the games whose jobs this server could not process. The next poll makes
	// them due again. Its size is limited by the number of games in memory plus the number of
	// reclaimed jobs.
	retries map[string]struct{}
}

// New returns a Scheduler that uses the given queue.
func New(queue store.Queue, logger *slog.Logger) *Scheduler {
	return &Scheduler{Queue: queue, logger: logger, retries: map[string]struct{}{}}
}

// Run leases jobs and processes them with handle until ctx is done.
func (s *Scheduler) Run(ctx context.Context, handle Handler) {
	periodic.Run(ctx, pollEvery, func() { s.poll(ctx, handle) })
}

// Retry makes jobs due at this server's next poll rather than when their leases expire.
func (s *Scheduler) Retry(gameIDs ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, id := range gameIDs {
		s.retries[id] = struct{}{}
	}
}

// Reclaim makes this server's next poll reclaim jobs that missing servers may have leased.
func (s *Scheduler) Reclaim() { s.reclaim.Store(true) }

// HandOver makes the jobs in the retry queue due, so that other servers process them. It must
// be called after Run has returned.
func (s *Scheduler) HandOver(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), handOverWithin)
	defer cancel()
	if err := s.enqueueRetries(ctx); err != nil {
		s.logger.Warn("cannot hand over jobs; they are due again when their leases expire", "id", "games-not-handed-over", "error", err)
	}
}

// enqueueRetries marks the jobs in the retry queue as due.
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

// poll marks the jobs in the retry queue as due, and then processes all due jobs.
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
		// Shuffle the jobs, so that games on an unavailable part of the store do not delay
		// the same other games every time.
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

// requeue makes three kinds of jobs due: those in the retry queue, those that this server
// leased without receiving the reply, and those that missing servers leased.
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

// leased returns the games whose jobs a server may have leased within the given period before
// now (ago), if its leases have the duration d. The result may include jobs that are not leased
// but merely scheduled for when such leases would expire.
func (s *Scheduler) leased(ctx context.Context, ago, d time.Duration) ([]string, error) {
	ago += time.Second // Add a second, because the lease request may have taken a while to arrive.
	return s.Due(ctx, d-ago, d, maxReclaimed)
}

// process processes a job and acknowledges it.
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
