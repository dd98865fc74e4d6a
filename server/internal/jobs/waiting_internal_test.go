package jobs

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/game"
	"github.com/gridstand/gridstand/game/replay"
	"github.com/gridstand/gridstand/internal/id"
	replaytest "github.com/gridstand/gridstand/internal/testkit/replay"
	"github.com/gridstand/gridstand/server/internal/match"
	"github.com/gridstand/gridstand/server/internal/store"
	"github.com/gridstand/gridstand/server/internal/store/storetest"
)

// Ensure that a game that waits for players ends ten minutes after its players have left it, on
// whichever server they were, and that it does not end while they are there.
func TestManager_Waiting(t *testing.T) {
	t.Parallel()
	storetest.EachClock(t, func(t *testing.T, s *store.Store, forward func(time.Duration)) {
		ctx, m := t.Context(), newManager(s, s.Queue)
		hub := match.NewHub(match.Config{Log: m.Log, Feed: s.Feed, Jobs: m, Observer: observed{}, ServerID: "here", Idle: time.Hour})
		ann := replay.Player{ID: id.Derive([]byte("ann")), Name: "Ann"}
		create := func() *match.Match {
			t.Helper()
			seed, gameID := game.NewSeed(), id.New()
			created := replaytest.Created(t, "tribolo", ann, seed)
			created.Seats[1] = replay.Seat{}
			state, err := hub.Create(ctx, gameID, created, seed)
			require.NoError(t, err)
			require.NoError(t, m.Plan(ctx, state))
			served, err := hub.Acquire(ctx, gameID)
			require.NoError(t, err)
			t.Cleanup(served.Release)
			return served
		}
		served := create()
		gameID := served.State().ID

		// work processes the game if it is due after d, and reports whether it was.
		work := func(d time.Duration) bool {
			t.Helper()
			forward(d)
			jobs, err := s.Queue.Lease(ctx, 1, leaseFor)
			require.NoError(t, err)
			for _, job := range jobs {
				next, err := m.process(ctx, hub, job)
				require.NoError(t, err)
				require.NoError(t, s.Queue.Ack(ctx, job, next))
			}
			return len(jobs) > 0
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
		assert.Equal(t, game.Abandoned, served.State().Result.Reason)

		served = create()
		assert.True(t, work(leaseFor+time.Second))
		forward(m.WaitingFor)
		m.Attended(ctx, served)
		assert.True(t, work(0))
		assert.False(t, waits(), "players who stay do not keep a game for ever")
	})
}
