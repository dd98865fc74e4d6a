package jobs

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/internal/convert"
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

// Ensure that another server processes a job that failed, and one whose server died, when the lease expires.
func TestQueue_Retry(t *testing.T) {
	t.Parallel()
	storetest.EachClock(t, func(t *testing.T, on *store.Store, forward func(time.Duration)) {
		failing, other := newManager(on, on.Queue).queue, newManager(on, on.Queue).queue
		handle := func(err error) handler {
			return func(context.Context, store.Job) (time.Time, error) { return time.Time{}, err }
		}
		fail, work := polls(t, failing, handle(errors.New("failed"))), polls(t, other, handle(nil))
		for _, lease := range []func() []string{fail, func() (ids []string) {
			jobs, err := on.Queue.Lease(t.Context(), 1, leaseFor)
			require.NoError(t, err)
			return convert.All(jobs, func(job store.Job) string { return job.GameID })
		}} {
			require.NoError(t, on.Queue.EnqueueBy(t.Context(), store.AtOnce, "g"))
			assert.Equal(t, []string{"g"}, lease())
			forward(leaseFor - time.Second)
			assert.Empty(t, work())
			forward(time.Second)
			assert.Equal(t, []string{"g"}, work())
			forward(leaseFor)
			assert.Empty(t, work())
		}
	})
}

// leased holds one job that is due.
type leased struct{ store.Queue }

func (leased) Lease(_ context.Context, _ int, d time.Duration) ([]store.Job, error) {
	now := time.Now()
	<-time.After(d / 4) // The reply takes a while.
	return []store.Job{{GameID: "g", Leased: now, Expires: now.Add(d)}}, nil
}

// Ensure that a job runs out of time a second before its lease expires, in which it can be acknowledged.
func TestQueue_Slow(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &queue{Queue: leased{}, logger: slog.New(slog.DiscardHandler)}
		s.poll(t.Context(), func(ctx context.Context, job store.Job) (time.Time, error) {
			<-ctx.Done()
			assert.LessOrEqual(t, time.Second, time.Until(job.Expires))
			return time.Time{}, ctx.Err()
		})
	})
}
