package jobs

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

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

// Ensure that the next poll processes a failed job again if retry was called, and not
// otherwise.
func TestQueue_Retry(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, on *store.Store) {
		s := newManager(on, on.Background.Queue).queue
		retry := false
		poll := polls(t, s, func(_ context.Context, job store.Job) (time.Time, error) {
			if retry {
				s.retry(job.GameID)
			}
			return time.Time{}, errors.New("failed")
		})
		require.NoError(t, s.EnqueueBy(t.Context(), store.AtOnce, "g"))
		assert.Equal(t, []string{"g"}, poll())
		assert.Empty(t, poll())
		retry = true
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
