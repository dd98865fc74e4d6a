package scheduler

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	redistest "github.com/gridstand/gridstand/internal/testkit/redis"
)

// polls makes a function that polls once and returns the games that were processed.
func polls(t *testing.T, s *Scheduler, handle Handler) func() []string {
	return func() (ids []string) {
		games := make(chan string, 100)
		s.poll(t.Context(), func(ctx context.Context, job Job) (time.Time, error) {
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

// Ensure that a job that fails is processed again with the next poll only after
// Retry.
func TestScheduler_Retry(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, client redis.UniversalClient) {
		s := New(client, client, slog.New(slog.DiscardHandler))
		retry := false
		poll := polls(t, s, func(_ context.Context, job Job) (time.Time, error) {
			if retry {
				s.Retry(job.GameID)
			}
			return time.Time{}, errors.New("failed")
		})
		require.NoError(t, s.EnqueueNow(t.Context(), "g"))
		assert.Equal(t, []string{"g"}, poll())
		assert.Empty(t, poll())
		retry = true
		require.NoError(t, s.EnqueueNow(t.Context(), "g"))
		assert.Equal(t, []string{"g"}, poll())
		assert.Equal(t, []string{"g"}, poll())
		s.HandOver(t.Context())
		other := New(client, client, slog.New(slog.DiscardHandler))
		assert.Equal(t, []string{"g"}, polls(t, other, func(context.Context, Job) (time.Time, error) { return time.Time{}, nil })())
		assert.Zero(t, client.ZCard(t.Context(), key).Val())
	})
}

// Ensure that another server's lease is processed after Reclaim.
func TestScheduler_Reclaim(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, client redis.UniversalClient) {
		s := New(client, client, slog.New(slog.DiscardHandler))
		poll := polls(t, s, func(context.Context, Job) (time.Time, error) { return time.Time{}, nil })
		require.NoError(t, s.EnqueueNow(t.Context(), "g"))
		_, err := s.Lease(t.Context(), 1, LeaseFor)
		require.NoError(t, err)
		assert.Empty(t, poll())
		s.Reclaim()
		assert.Equal(t, []string{"g"}, poll())
	})
}
