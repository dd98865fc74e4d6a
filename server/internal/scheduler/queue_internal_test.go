package scheduler

import (
	"errors"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	redistest "github.com/gridstand/gridstand/internal/testkit/redis"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// queue is a Queue on a test's Redis. Its times count from the test's beginning.
type queue struct {
	Queue
	t     *testing.T
	began time.Time
}

func newQueue(t *testing.T, client redis.UniversalClient, due map[string]time.Duration) queue {
	t.Helper()
	began, err := client.Time(t.Context()).Result()
	require.NoError(t, err)
	q := queue{Queue: Queue{client, client}, t: t, began: began.Truncate(time.Millisecond)}
	for id, in := range due {
		require.NoError(t, q.Set(t.Context(), id, q.began.Add(in)))
	}
	return q
}

// in is when a job is due; ok is false if there is none.
func (q queue) in(id string) (d time.Duration, ok bool) {
	q.t.Helper()
	score, err := q.client.ZScore(q.t.Context(), key, id).Result()
	if errors.Is(err, redis.Nil) {
		return 0, false
	}
	require.NoError(q.t, err)
	return time.UnixMilli(int64(score)).Sub(q.began), true
}

// about requires that a job is due at a time, or later by as long as the test may
// have taken.
func (q queue) about(id string, want time.Duration) {
	q.t.Helper()
	got, ok := q.in(id)
	require.True(q.t, ok, "%s has no job", id)
	assert.GreaterOrEqual(q.t, got, want, id)
	assert.Less(q.t, got, want+time.Minute, id)
}

// lease leases jobs and returns their games.
func (q queue) lease(n int, d time.Duration) (jobs []Job, ids []string) {
	q.t.Helper()
	jobs, err := q.Lease(q.t.Context(), n, d)
	require.NoError(q.t, err)
	for _, job := range jobs {
		assert.Equal(q.t, d, job.Expires.Sub(job.Leased))
		ids = append(ids, job.GameID)
	}
	return jobs, ids
}

// Ensure that every way to schedule a job moves it only as its name says.
func TestQueue_Schedule(t *testing.T) {
	t.Parallel()
	const early, middle, late = time.Hour, 2 * time.Hour, 3 * time.Hour
	for name, c := range map[string]struct {
		schedule func(t *testing.T, q queue, id string) error
		want     time.Duration // of a job that was due earlier
	}{
		"EnqueueIn": { // ends a lease
			func(t *testing.T, q queue, id string) error { return q.EnqueueIn(t.Context(), id, middle) },
			early - time.Millisecond,
		},
		"EnqueueBy": {
			func(t *testing.T, q queue, id string) error {
				return q.EnqueueBy(t.Context(), id, q.began.Add(middle))
			}, early,
		},
		"Set": {
			func(t *testing.T, q queue, id string) error { return q.Set(t.Context(), id, q.began.Add(middle)) },
			middle,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			redistest.Each(t, func(t *testing.T, client redis.UniversalClient) {
				q := newQueue(t, client, map[string]time.Duration{"early": early, "late": late})
				for _, id := range []string{"early", "late", "new"} {
					require.NoError(t, c.schedule(t, q, id))
				}
				q.about("late", middle)
				q.about("new", middle)
				q.about("early", c.want)
			})
		})
	}
}

// Ensure that EnqueueNow makes jobs due that were scheduled, leased or absent,
// and that a job that was removed is not due.
func TestQueue_EnqueueNow(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, client redis.UniversalClient) {
		q := newQueue(t, client, map[string]time.Duration{"leased": -time.Hour, "later": time.Hour, "gone": -time.Hour})
		require.NoError(t, q.Remove(t.Context(), "gone"))
		require.NoError(t, q.Remove(t.Context(), "gone"))
		_, ids := q.lease(10, time.Hour)
		require.Equal(t, []string{"leased"}, ids)
		require.NoError(t, q.EnqueueNow(t.Context()))
		require.NoError(t, q.EnqueueNow(t.Context(), "leased", "later", "new"))
		_, ids = q.lease(10, time.Hour)
		assert.ElementsMatch(t, []string{"leased", "later", "new"}, ids)
	})
}

// Ensure that EnqueueMissing makes jobs due for games that have none, and no
// others.
func TestQueue_EnqueueMissing(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, client redis.UniversalClient) {
		q := newQueue(t, client, map[string]time.Duration{"later": time.Hour})
		require.NoError(t, q.EnqueueMissing(t.Context()))
		require.NoError(t, q.EnqueueMissing(t.Context(), "later", "new"))
		q.about("later", time.Hour)
		_, ids := q.lease(10, time.Hour)
		assert.Equal(t, []string{"new"}, ids)
	})
}

// Ensure that jobs that are due are leased once, the longest due first and as
// many as asked for, and again when the lease has expired.
func TestQueue_Lease(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, client redis.UniversalClient) {
		q := newQueue(t, client, map[string]time.Duration{"c": -time.Second, "a": -time.Hour, "b": -time.Minute, "later": time.Hour})
		jobs, ids := q.lease(2, time.Hour)
		assert.Equal(t, []string{"a", "b"}, ids)
		q.about("a", time.Hour)
		got, _ := q.in("b")
		assert.Equal(t, jobs[1].Expires, q.began.Add(got))
		q.about("later", time.Hour)

		_, ids = q.lease(2, -time.Second)
		assert.Equal(t, []string{"c"}, ids)
		_, ids = q.lease(2, time.Hour)
		assert.Equal(t, []string{"c"}, ids, "its lease has expired")
		_, ids = q.lease(2, time.Hour)
		assert.Empty(t, ids)
	})
}

// Ensure that servers that lease at the same time never get the same job.
func TestQueue_Lease_Concurrent(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, client redis.UniversalClient) {
		due := map[string]time.Duration{}
		var want []string
		for n := range 100 {
			id := strconv.Itoa(n)
			due[id], want = -time.Minute, append(want, id)
		}
		q := newQueue(t, client, due)
		var group sync.WaitGroup
		var mu sync.Mutex
		var leased []string
		for range 8 {
			group.Go(func() {
				for {
					jobs, err := q.Lease(t.Context(), 7, time.Hour)
					if !assert.NoError(t, err) || len(jobs) == 0 {
						return
					}
					mu.Lock()
					for _, job := range jobs {
						leased = append(leased, job.GameID)
					}
					mu.Unlock()
				}
			})
		}
		group.Wait()
		slices.Sort(want)
		slices.Sort(leased)
		assert.Equal(t, want, leased)
	})
}

// Ensure that Ack schedules or removes the job that was leased, and changes
// nothing if it was enqueued or leased again since.
func TestQueue_Ack(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		before func(t *testing.T, q queue, id string) // between Lease and Ack
		next   time.Duration                          // 0 for never
		want   time.Duration                          // when the job is due then
		gone   bool
	}{
		"next":                    {next: 2 * time.Hour, want: 2 * time.Hour},
		"earlier":                 {next: -time.Hour, want: -time.Hour},
		"never":                   {gone: true},
		"enqueued earlier":        {before: enqueueEarlier, next: 2 * time.Hour, want: time.Minute},
		"enqueued earlier, never": {before: enqueueEarlier, want: time.Minute},
		"enqueued":                {before: enqueueAgain, next: 2 * time.Hour, want: time.Hour - time.Millisecond},
		"enqueued, never":         {before: enqueueAgain, want: time.Hour - time.Millisecond},
		"leased again":            {before: leaseAgain, next: 2 * time.Hour, want: 5 * time.Hour},
		"removed":                 {before: remove, next: 2 * time.Hour, gone: true},
		"removed, never":          {before: remove, gone: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			redistest.Each(t, func(t *testing.T, client redis.UniversalClient) {
				q := newQueue(t, client, map[string]time.Duration{"g": -time.Second, "other": time.Hour})
				jobs, ids := q.lease(1, time.Hour)
				require.Equal(t, []string{"g"}, ids)
				if c.before != nil {
					c.before(t, q, "g")
				}
				var next time.Time
				if c.next != 0 {
					next = q.began.Add(c.next)
				}
				require.NoError(t, q.Ack(t.Context(), jobs[0], next))
				q.about("other", time.Hour)
				if c.gone {
					_, ok := q.in("g")
					assert.False(t, ok)
					return
				}
				q.about("g", c.want)
			})
		})
	}
}

func enqueueEarlier(t *testing.T, q queue, id string) {
	require.NoError(t, q.EnqueueBy(t.Context(), id, q.began.Add(time.Minute)))
}

// enqueueAgain is what a server does before it appends: for as long as a lease
// lasts.
func enqueueAgain(t *testing.T, q queue, id string) {
	require.NoError(t, q.EnqueueIn(t.Context(), id, time.Hour))
}

// leaseAgain is what another server does when a lease has expired.
func leaseAgain(t *testing.T, q queue, id string) {
	require.NoError(t, q.Set(t.Context(), id, q.began.Add(-time.Second)))
	_, ids := q.lease(1, 5*time.Hour)
	require.Equal(t, []string{id}, ids)
}

func remove(t *testing.T, q queue, id string) { require.NoError(t, q.Remove(t.Context(), id)) }

// Ensure that the jobs of a lease whose reply was lost are found, and no
// others.
func TestQueue_Leased(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, client redis.UniversalClient) {
		q := newQueue(t, client, nil)
		require.NoError(t, q.EnqueueNow(t.Context(), "game"))
		require.NoError(t, q.EnqueueIn(t.Context(), "later", time.Minute))
		require.NoError(t, q.EnqueueIn(t.Context(), "sooner", time.Second))
		q.lease(1, 30*time.Second)
		ids, err := q.leased(t.Context(), 20*time.Second, 30*time.Second)
		require.NoError(t, err)
		assert.Equal(t, []string{"game"}, ids)
	})
}
