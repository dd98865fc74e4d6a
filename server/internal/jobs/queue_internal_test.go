package jobs

import (
	"context"
	"errors"
	"log/slog"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/game/replay"
	"github.com/gridstand/gridstand/server/internal/store"
	"github.com/gridstand/gridstand/server/internal/store/storetest"
)

// ever is longer than any job in the tests waits or stays overdue.
const ever = 100 * 365 * 24 * time.Hour

// polls returns a function that polls once and returns the games that the poll processed.
func polls(t *testing.T, s *queue, handle handler) func() []string {
	return func() (ids []string) {
		games := make(chan string, 100)
		s.poll(t.Context(), func(ctx context.Context, job store.Job) (time.Time, error) {
			games <- job.GameID
			return handle(ctx, job)
		})
		close(games)
		for id := range games {
			ids = append(ids, id)
		}
		return ids
	}
}

// Ensure that the next poll processes a failed job again, unless a newer server may know the game's rules.
func TestQueue_Retry(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, on *store.Store) {
		s := newManager(on, on.Background.Queue).queue
		failure := replay.ErrUnknown
		poll := polls(t, s, func(context.Context, store.Job) (time.Time, error) { return time.Time{}, failure })
		require.NoError(t, s.EnqueueBy(t.Context(), store.AtOnce, "g"))
		assert.Equal(t, []string{"g"}, poll())
		assert.Empty(t, poll())
		failure = errors.New("failed")
		require.NoError(t, s.EnqueueBy(t.Context(), store.AtOnce, "g"))
		assert.Equal(t, []string{"g"}, poll())
		assert.Equal(t, []string{"g"}, poll())
		s.handOver(t.Context())
		other := newManager(on, on.Background.Queue).queue
		assert.Equal(t, []string{"g"}, polls(t, other, func(context.Context, store.Job) (time.Time, error) { return time.Time{}, nil })())
		ids, err := s.Due(t.Context(), -ever, ever, 1)
		require.NoError(t, err)
		assert.Empty(t, ids)
	})
}

// recorded holds one job that is due, and the games that are enqueued.
type recorded struct {
	store.Queue
	enqueued []string
}

func (q *recorded) EnqueueBy(_ context.Context, _ time.Time, gameIDs ...string) error {
	q.enqueued = append(q.enqueued, gameIDs...)
	return nil
}

func (q *recorded) Lease(_ context.Context, _ int, d time.Duration) ([]store.Job, error) {
	return []store.Job{{GameID: "g", Leased: time.Now(), Expires: time.Now().Add(d)}}, nil
}

// Ensure that a job that runs out of time stays leased for seconds, on all servers, while one that a stopping
// server interrupts is due at once.
func TestQueue_Slow(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		jobs := &recorded{}
		for _, stops := range []bool{false, true} {
			logger, retries := slog.New(slog.DiscardHandler), map[string]struct{}{}
			s := &queue{Queue: jobs, logger: logger, missing: new(atomic.Bool), retries: retries}
			ctx, stop := context.WithCancel(t.Context())
			defer stop()
			began := time.Now()
			s.poll(ctx, func(ctx context.Context, job store.Job) (time.Time, error) {
				if stops {
					stop()
				}
				<-ctx.Done()
				assert.Equal(t, !stops, time.Since(began) == leaseFor/2)
				return time.Time{}, ctx.Err()
			})
			s.handOver(ctx)
			assert.Equal(t, stops, len(jobs.enqueued) > 0)
		}
	})
}

// Ensure that a job that a missing server has leased is processed, even if this server stops before its
// next poll.
func TestQueue_Reclaim(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, on *store.Store) {
		m := newManager(on, on.Background.Queue)
		s := m.queue
		done := func(context.Context, store.Job) (time.Time, error) { return time.Time{}, nil }
		poll := polls(t, s, done)
		require.NoError(t, s.EnqueueBy(t.Context(), store.AtOnce, "g"))
		_, err := s.Lease(t.Context(), 1, leaseFor)
		require.NoError(t, err)
		assert.Empty(t, poll())
		m.Monitor.Missing.Store(true)
		assert.Equal(t, []string{"g"}, poll())

		require.NoError(t, s.EnqueueBy(t.Context(), store.AtOnce, "g"))
		_, err = s.Lease(t.Context(), 1, leaseFor)
		require.NoError(t, err)
		m.Monitor.Missing.Store(true)
		s.handOver(t.Context())
		other := newManager(on, on.Background.Queue).queue
		assert.Equal(t, []string{"g"}, polls(t, other, done)())
	})
}
