package storetest

import (
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/server/internal/store"
)

// queue is the store.Queue under test, with helpers that take times relative to the start
// of the test. The tests use times that are hours apart, because they compare them roughly.
type queue struct {
	store.Queue
	t     *testing.T
	began time.Time
}

// newQueue returns the queue of an empty store with jobs that are due at the given
// times.
func newQueue(t *testing.T, s *store.Store, due map[string]time.Duration) queue {
	t.Helper()
	began, err := s.Time(t.Context())
	require.NoError(t, err)
	q := queue{s.Background.Queue, t, began.Truncate(time.Millisecond)}
	for id, in := range due {
		require.NoError(t, s.Queue.EnqueueBy(t.Context(), q.began.Add(in), id))
	}
	return q
}

// at checks that the given games have jobs that are due at about the given time.
func (q queue) at(in time.Duration, gameIDs ...string) {
	q.t.Helper()
	for _, id := range gameIDs {
		at, err := q.Scheduled(q.t.Context(), id)
		require.NoError(q.t, err)
		assert.WithinDuration(q.t, q.began.Add(in), at, 10*time.Minute, id)
	}
}

// none checks that a game has no job.
func (q queue) none(gameID string) {
	q.t.Helper()
	at, err := q.Scheduled(q.t.Context(), gameID)
	require.NoError(q.t, err)
	assert.Zero(q.t, at)
}

// hold holds a game's job, and checks that Hold returns its time. 0 is no last entry, and no latest time.
func (q queue) hold(id string, delay, last, latest time.Duration) error {
	q.t.Helper()
	after := func(d time.Duration) time.Time {
		if d == 0 {
			return time.Time{}
		}
		return q.began.Add(d)
	}
	held, err := q.Hold(q.t.Context(), id, delay, after(last), after(latest))
	require.NoError(q.t, err)
	at, err := q.Scheduled(q.t.Context(), id)
	require.NoError(q.t, err)
	assert.True(q.t, held.Equal(at), "%v, want %v", held, at)
	return err
}

// lease leases jobs, and returns them and the IDs of their games.
func (q queue) lease(n int, d time.Duration) (jobs []store.Job, ids []string) {
	q.t.Helper()
	jobs, err := q.Lease(q.t.Context(), n, d)
	require.NoError(q.t, err)
	for _, job := range jobs {
		assert.Equal(q.t, d, job.Expires.Sub(job.Leased))
		assert.WithinRange(q.t, job.Leased, q.began, q.began.Add(time.Minute))
		ids = append(ids, job.GameID)
	}
	return jobs, ids
}

// Queue tests the contract of store.Queue.
func Queue(t *testing.T, open Open) {
	queueSchedules(t, open)
	queueLeases(t, open)
	queueAcks(t, open)
}

func queueSchedules(t *testing.T, open Open) {
	const early, middle, late = 2 * time.Hour, 4 * time.Hour, 6 * time.Hour
	for _, c := range []struct {
		name     string
		schedule func(t *testing.T, q queue, id string) error
		early    []string // games whose jobs are expected to be due at the time early
		middle   []string
	}{
		{"Hold", func(t *testing.T, q queue, id string) error {
			return q.hold(id, middle, 0, 0)
		}, nil, []string{"early", "late", "new"}},
		{"Hold after the last entry", func(t *testing.T, q queue, id string) error {
			return q.hold(id, early, -time.Hour, 0)
		}, []string{"early", "late", "new"}, nil},
		{"Hold after a last entry in the future", func(t *testing.T, q queue, id string) error {
			return q.hold(id, early, early, 0)
		}, nil, []string{"early", "late", "new"}},
		{"Hold until the latest time", func(t *testing.T, q queue, id string) error {
			return q.hold(id, middle, 0, early)
		}, []string{"early", "late", "new"}, nil},
		{"Hold before the latest time", func(t *testing.T, q queue, id string) error {
			return q.hold(id, early, 0, middle)
		}, []string{"early", "late", "new"}, nil},
		{"EnqueueBy", func(t *testing.T, q queue, id string) error {
			return q.EnqueueBy(t.Context(), q.began.Add(middle), id)
		}, []string{"early"}, []string{"late", "new"}},
		{"EnqueueMissing", func(t *testing.T, q queue, id string) error {
			return q.EnqueueMissing(t.Context(), id)
		}, []string{"early"}, nil},
	} {
		t.Run(c.name+" schedules jobs", func(t *testing.T) {
			q := newQueue(t, open(t), map[string]time.Duration{"early": early, "late": late})
			for _, id := range []string{"early", "late", "new"} {
				require.NoError(t, c.schedule(t, q, id))
			}
			q.at(early, c.early...)
			q.at(middle, c.middle...)
		})
	}
	t.Run("EnqueueBy makes scheduled, leased and missing jobs due", func(t *testing.T) {
		q := newQueue(t, open(t), map[string]time.Duration{"leased": -time.Hour, "later": time.Hour, "other": time.Hour})
		_, ids := q.lease(10, time.Hour)
		require.Equal(t, []string{"leased"}, ids)
		require.NoError(t, q.EnqueueBy(t.Context(), store.AtOnce))
		require.NoError(t, q.EnqueueBy(t.Context(), store.AtOnce, "leased", "later", "new"))
		_, ids = q.lease(10, time.Hour)
		assert.ElementsMatch(t, []string{"leased", "later", "new"}, ids)
	})
	t.Run("Remove removes a job in any state", func(t *testing.T) {
		q := newQueue(t, open(t), map[string]time.Duration{"leased": -2 * time.Hour, "due": -time.Hour, "later": time.Hour})
		q.lease(1, time.Hour)
		for _, id := range []string{"leased", "due", "later", "later"} {
			require.NoError(t, q.Remove(t.Context(), id))
		}
		for _, id := range []string{"leased", "due", "later"} {
			q.none(id)
		}
	})
	t.Run("Scheduled returns the time of a job, which Ack can change", func(t *testing.T) {
		q := newQueue(t, open(t), map[string]time.Duration{"a": time.Hour})
		for _, want := range []time.Time{q.began.Add(time.Hour), q.began.Add(2 * time.Hour), {}} {
			at, err := q.Scheduled(t.Context(), "a")
			require.NoError(t, err)
			assert.True(t, want.Equal(at), "%v, want %v", at, want)
			next := time.Time{}
			if at.Equal(q.began.Add(time.Hour)) {
				next = q.began.Add(2 * time.Hour)
			}
			require.NoError(t, q.Ack(t.Context(), store.Job{GameID: "a", Expires: at}, next))
		}
	})
}

func queueLeases(t *testing.T, open Open) {
	t.Run("jobs are leased once, in the order in which they became due, and again when the lease has ended", func(t *testing.T) {
		q := newQueue(t, open(t), map[string]time.Duration{"c": -time.Second, "a": -time.Hour, "b": -time.Minute, "later": time.Hour})
		_, ids := q.lease(2, 2*time.Hour)
		assert.Equal(t, []string{"a", "b"}, ids)
		q.at(2*time.Hour, "a", "b")
		q.at(time.Hour, "later")
		_, ids = q.lease(2, 0)
		assert.Equal(t, []string{"c"}, ids)
		_, ids = q.lease(2, time.Hour)
		assert.Equal(t, []string{"c"}, ids, "the lease has ended")
		_, ids = q.lease(2, time.Hour)
		assert.Empty(t, ids)
	})
	t.Run("servers that lease concurrently never get the same job", func(t *testing.T) {
		due := map[string]time.Duration{}
		var want []string
		for n := range 100 {
			id := strconv.Itoa(n)
			due[id], want = -time.Minute, append(want, id)
		}
		q := newQueue(t, open(t), due)
		var leased []string
		for _, ids := range allSucceed(t, 8, func(int) (ids []string, err error) {
			for {
				jobs, err := q.Lease(t.Context(), 7, time.Hour)
				if err != nil || len(jobs) == 0 {
					return ids, err
				}
				for _, job := range jobs {
					ids = append(ids, job.GameID)
				}
			}
		}) {
			leased = append(leased, ids...)
		}
		slices.Sort(want)
		slices.Sort(leased)
		assert.Equal(t, want, leased)
	})
}

func queueAcks(t *testing.T, open Open) {
	const leased, next = 2 * time.Hour, 4 * time.Hour
	enqueueEarlier := func(t *testing.T, q queue) error {
		return q.EnqueueBy(t.Context(), q.began.Add(time.Hour), "g")
	}
	// A server calls Hold like this before it appends. Here the delay equals the
	// duration of the lease, and the store's clock may still show the same millisecond.
	hold := func(_ *testing.T, q queue) error { return q.hold("g", leased, 0, 0) }
	// Another server leases the job again when the lease has ended.
	leaseAgain := func(t *testing.T, q queue) error {
		err := q.EnqueueBy(t.Context(), store.AtOnce, "g")
		q.lease(1, 6*time.Hour)
		return err
	}
	remove := func(t *testing.T, q queue) error { return q.Remove(t.Context(), "g") }
	for _, c := range []struct {
		name   string
		before func(t *testing.T, q queue) error // called between Lease and Ack
		next   time.Duration                     // 0 for never
		want   time.Duration                     // when the job is due after Ack, 0 for never
	}{
		{"schedules the job", nil, next, next},
		{"schedules the job earlier", nil, -time.Hour, -time.Hour},
		{"removes the job", nil, 0, 0},
		{"changes nothing after EnqueueBy", enqueueEarlier, next, time.Hour},
		{"changes nothing after Hold", hold, next, leased},
		{"changes nothing after Hold, never", hold, 0, leased},
		{"changes nothing after another lease", leaseAgain, next, 6 * time.Hour},
		{"changes nothing after Remove", remove, next, 0},
	} {
		t.Run("Ack "+c.name, func(t *testing.T) {
			q := newQueue(t, open(t), map[string]time.Duration{"g": -time.Second, "other": 8 * time.Hour})
			jobs, ids := q.lease(1, leased)
			require.Equal(t, []string{"g"}, ids)
			if c.before != nil {
				require.NoError(t, c.before(t, q))
			}
			var at time.Time
			if c.next != 0 {
				at = q.began.Add(c.next)
			}
			require.NoError(t, q.Ack(t.Context(), jobs[0], at))
			if c.want == 0 {
				q.none("g")
			} else {
				q.at(c.want, "g")
			}
			q.at(8*time.Hour, "other")
		})
	}
}

// QueueTimes tests that a job is due at the given time, and when its lease ends.
func QueueTimes(t *testing.T, open OpenClock) {
	s, forward := open(t)
	q := newQueue(t, s, nil)
	require.NoError(t, q.hold("g", time.Hour, 0, 0))
	g := []string{"g"}
	for _, c := range []struct {
		wait time.Duration
		want []string
	}{{59 * time.Minute, nil}, {time.Minute, g}, {0, nil}, {10 * time.Second, g}} {
		forward(c.wait)
		q.began = q.began.Add(c.wait)
		_, ids := q.lease(10, 10*time.Second)
		assert.Equal(t, c.want, ids, "after another %v", c.wait)
	}
}
