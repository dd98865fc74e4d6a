package jobs

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/game"
	"github.com/gridstand/gridstand/game/replay"
	"github.com/gridstand/gridstand/internal/id"
	replaytest "github.com/gridstand/gridstand/internal/testkit/replay"
	"github.com/gridstand/gridstand/server/internal/challenge"
	"github.com/gridstand/gridstand/server/internal/match"
	"github.com/gridstand/gridstand/server/internal/store"
	"github.com/gridstand/gridstand/server/internal/store/storetest"
)

// newWaiting returns a new game with a clock and without bots that waits for a second player.
func newWaiting(t *testing.T, m *Manager, hub *match.Hub) *match.Match {
	t.Helper()
	seed := game.NewSeed()
	created := replaytest.Created(t, "tribolo", replay.Player{ID: id.Derive([]byte("ann")), Name: "Ann"}, seed)
	created.Seats[1], created.Seats[2], created.TurnLimit = replay.Seat{}, created.Seats[0], time.Minute
	return begin(t, m, hub, id.New(), created, seed)
}

// processes processes the game that is due, if any, and returns the number of games.
func processes(t *testing.T, s *store.Store, m *Manager, hub *match.Hub) int {
	t.Helper()
	jobs, err := s.Queue.Lease(t.Context(), 1, leaseFor)
	require.NoError(t, err)
	for _, job := range jobs {
		next, err := m.process(t.Context(), hub, job)
		require.NoError(t, err)
		require.NoError(t, s.Queue.Ack(t.Context(), job, next))
	}
	return len(jobs)
}

// Ensure that a game that waits for players ends ten minutes after its players have left it, on
// whichever server they were, and that it does not end while they are there.
func TestManager_Waiting(t *testing.T) {
	t.Parallel()
	storetest.EachClock(t, func(t *testing.T, s *store.Store, forward func(time.Duration)) {
		ctx, m := t.Context(), newManager(s, s.Queue)
		hub := newHub(m, s, "here")
		served := newWaiting(t, m, hub)
		gameID := served.State().ID

		// work processes the game if it is due after d, and reports whether it was.
		work := func(d time.Duration) bool {
			t.Helper()
			forward(d)
			return processes(t, s, m, hub) > 0
		}
		waits := func() bool { return served.State().Status == replay.Waiting }
		assert.True(t, work(leaseFor+time.Second))
		assert.False(t, work(desertedFor/2))
		m.Attended(ctx, served) // as when a player opens a stream
		assert.False(t, work(desertedFor-time.Second), "players were there less than ten minutes ago")
		_, err := s.Games.Audience(ctx, gameID, "elsewhere", 1, store.Reactions{})
		require.NoError(t, err)
		assert.True(t, work(2*time.Second))
		assert.True(t, waits(), "players are there")
		_, err = s.Games.Audience(ctx, gameID, "elsewhere", 0, store.Reactions{})
		require.NoError(t, err)
		assert.False(t, work(desertedFor-time.Second))
		assert.True(t, waits())
		assert.True(t, work(2*time.Second))
		assert.Equal(t, game.Abandoned, served.State().Reason)

		served = newWaiting(t, m, hub)
		assert.True(t, work(leaseFor+time.Second))
		forward(challenge.WaitsFor)
		m.Attended(ctx, served)
		assert.True(t, work(0))
		assert.False(t, waits(), "players who stay do not keep a game for ever")
	})
}

// Ensure that a game whose clock runs is not processed again before that runs out.
func TestManager_NotOverdue(t *testing.T) {
	t.Parallel()
	storetest.EachClock(t, func(t *testing.T, s *store.Store, forward func(time.Duration)) {
		ctx, m := t.Context(), newManager(s, s.Queue)
		hub := newHub(m, s, "here")
		_, err := newWaiting(t, m, hub).Join(ctx, replay.Player{ID: id.Derive([]byte("bob")), Name: "Bob"}, game.NoSeat)
		require.NoError(t, err)
		for _, due := range []int{1, 0} {
			forward(2 * leaseFor)
			require.Equal(t, due, processes(t, s, m, hub))
		}
	})
}

// observedQueue is a queue that calls read when a server has read the time of a job.
type observedQueue struct {
	store.Queue
	read func()
}

func (q observedQueue) Scheduled(ctx context.Context, gameID string) (time.Time, error) {
	at, err := q.Queue.Scheduled(ctx, gameID)
	q.read()
	return at, err
}

// Ensure that a server on which a player watches a waiting game never postpones its job if another one is
// about to start the game, does so in the meantime, or has done so: it could die before it corrects that.
func TestManager_Attended_Started(t *testing.T) {
	t.Parallel()
	storetest.EachClock(t, func(t *testing.T, s *store.Store, forward func(time.Duration)) {
		ctx, q := t.Context(), &observedQueue{Queue: s.Queue, read: func() {}}
		m := newManager(s, q)
		here, elsewhere := newHub(m, s, "here"), newHub(m, s, "elsewhere")
		start := func(gameID string) {
			joined, err := elsewhere.Acquire(ctx, gameID)
			require.NoError(t, err)
			defer joined.Release()
			_, err = joined.Join(ctx, replay.Player{ID: id.Derive([]byte("bob")), Name: "Bob"}, game.NoSeat)
			require.NoError(t, err)
		}
		for _, when := range []string{"before", "during", "after"} {
			served := newWaiting(t, m, here)
			gameID, began := served.State().ID, served.State().UpdateTime
			set := func(in time.Duration) {
				require.NoError(t, s.Queue.Remove(ctx, gameID))
				require.NoError(t, s.Queue.EnqueueBy(ctx, began.Add(in), gameID))
			}
			set(desertedFor)
			q.read = func() {}
			switch when {
			case "before":
				_, err := m.Hold(ctx, gameID, began, time.Time{})
				require.NoError(t, err)
			case "during":
				q.read = func() { start(gameID) }
			case "after":
				start(gameID)
				set(time.Minute) // as its job does
			}
			m.Attended(ctx, served)
			forward(time.Minute)
			jobs, err := s.Queue.Lease(ctx, 1, leaseFor)
			require.NoError(t, err)
			require.Len(t, jobs, 1, when)
			require.NoError(t, s.Queue.Remove(ctx, gameID))
		}
	})
}
