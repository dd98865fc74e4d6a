package jobs

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/game"
	"github.com/gridstand/gridstand/game/replay"
	"github.com/gridstand/gridstand/internal/id"
	"github.com/gridstand/gridstand/server/internal/liveness"
	"github.com/gridstand/gridstand/server/internal/match"
	"github.com/gridstand/gridstand/server/internal/store"
	"github.com/gridstand/gridstand/server/internal/store/storetest"
)

// Ensure that a game between bots is paused when it has no watchers, but not in its first minute, and
// that it ends if it stays unwatched for as long as finished games are kept.
func TestManager_Pause(t *testing.T) {
	t.Parallel()
	m := &Manager{Config: Config{AbandonAfter: time.Hour, Stores: liveness.Stores{KeepFinished: 5 * time.Hour}}}
	created := time.Now()
	for _, tt := range []struct {
		age     time.Duration
		watched bool
		runs    bool
	}{
		{0, false, true},
		{time.Minute - 1, false, true},
		{time.Minute, false, false},
		{time.Hour, false, false},
		{time.Hour, true, true},
	} {
		g := &replay.State{
			Status: replay.Active, Seats: []replay.Seat{{Bot: "greedy"}}, CreateTime: created, UpdateTime: created.Add(tt.age),
		}
		assert.True(t, pausable(g))
		assert.Equal(t, tt.runs, watchedOrYoung(g, tt.watched), tt)
		assert.Equal(t, g.UpdateTime.Add(5*time.Hour), m.overdueAt(g), tt)
		g.Creator.ID = showcaseCreator
		assert.Equal(t, g.UpdateTime.Add(unviewedFor), m.overdueAt(g), "a paused showcase ends")
	}
	assert.False(t, pausable(&replay.State{Status: replay.Active, Seats: []replay.Seat{{Bot: "greedy"}, {}}}))
}

// Ensure that a server on which a showcase has no preview does not end it, as another server may have
// one, until its bots no longer move.
func TestManager_PreviewElsewhere(t *testing.T) {
	t.Parallel()
	storetest.EachClock(t, func(t *testing.T, s *store.Store, forward func(time.Duration)) {
		ctx, m, gameID, seed := t.Context(), newManager(s, s.Queue), id.New(), game.NewSeed()
		created, here, elsewhere := program(time.Unix(0, 0)), newHub(m, s, "here"), newHub(m, s, "elsewhere")
		created.Commitment = seed.Commitment()
		state, err := elsewhere.Create(ctx, gameID, created, seed, time.Time{})
		require.NoError(t, err)
		forward(2 * runsUnwatched)
		served, err := elsewhere.Acquire(ctx, gameID)
		require.NoError(t, err)
		defer served.Release()
		_, err = served.Do(ctx, match.Call{Version: 1, Action: replay.Moved{Move: state.LegalMoves()[0], ByBot: true}})
		require.NoError(t, err)
		for _, step := range []struct {
			after time.Duration
			want  replay.Status
		}{{unviewedFor - time.Second, replay.Active}, {leaseFor, replay.Finished}} {
			forward(step.after)
			jobs, err := s.Queue.Lease(ctx, 1, leaseFor)
			require.NoError(t, err)
			require.Len(t, jobs, 1)
			_, err = m.process(ctx, here, jobs[0])
			require.NoError(t, err)
			tip, err := served.Confirm(ctx)
			require.NoError(t, err)
			assert.Equal(t, step.want, tip.State.Status)
		}
	})
}

// Ensure that a showcase is due whenever a bot has moved, so that it ends soon after another game begins, and, like
// every game with a bot to move, when its lease ends.
func TestManager_ShowcaseDue(t *testing.T) {
	t.Parallel()
	storetest.EachClock(t, func(t *testing.T, s *store.Store, forward func(time.Duration)) {
		ctx, m := t.Context(), newManager(s, s.Queue)
		hub := newHub(m, s, "here")
		m.bots.pace = ever
		defer m.bots.start(ctx, hub)()
		served := begin(t, m, hub, id.New(), program(time.Unix(0, 0)), game.NewSeed())
		for range 3 {
			require.Equal(t, 1, processes(t, s, m, hub))
			require.Zero(t, processes(t, s, m, hub))
			forward(leaseFor)
			require.Equal(t, 1, processes(t, s, m, hub), "the bot has not moved")
			state := served.State()
			move := replay.Moved{Move: state.LegalMoves()[0], ByBot: true}
			_, err := served.Do(ctx, match.Call{Version: state.Version, Action: move})
			require.NoError(t, err)
		}
	})
}

// Ensure that a game between bots continues when clients watch it again.
func TestManager_Changed(t *testing.T) {
	t.Parallel()
	s := storetest.New(t)
	m := newManager(s, s.Queue)
	hub := newHub(m, s, "here")
	m.bots.pace = ever
	served := begin(t, m, hub, id.New(), program(time.Unix(0, 0)), game.NewSeed())
	defer m.bots.start(t.Context(), hub)()
	require.Empty(t, m.bots.scheduled)
	m.Changed(served)
	assert.Contains(t, m.bots.scheduled, served.State().ID)
}

// Ensure that all servers derive the same id for a showcase that begins in the same minute.
func TestShowcaseID(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 1, 2, 3, 4, 0, 0, time.UTC)
	assert.Equal(t, showcaseID(at), showcaseID(at.Add(time.Minute-1)))
	assert.NotEqual(t, showcaseID(at), showcaseID(at.Add(time.Minute)))
}
