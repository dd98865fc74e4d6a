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
	"github.com/gridstand/gridstand/server/internal/directory"
	"github.com/gridstand/gridstand/server/internal/match"
	"github.com/gridstand/gridstand/server/internal/store"
	"github.com/gridstand/gridstand/server/internal/store/storetest"
)

// full is a queue that counts removed jobs. Its Remove fails with err if err is set, as if the disk were
// full.
type full struct {
	store.Queue
	err     error
	removed int
}

func (f *full) Remove(ctx context.Context, gameID string) error {
	if f.err != nil {
		return f.err
	}
	f.removed++
	return f.Queue.Remove(ctx, gameID)
}

// Ensure that the end of a game and its result are stored either together or not at all.
func TestManager_Within(t *testing.T) {
	t.Parallel()
	s := storetest.New(t)
	require.False(t, s.Shared())
	ctx, jobs := t.Context(), &full{Queue: s.Queue}
	m := newManager(s, jobs)
	hub := match.NewHub(match.Config{
		Log: m.Log, Feed: s.Feed, Transactional: true, Jobs: m, Delivered: func(int) {}, ServerID: "here", Idle: time.Hour,
	})

	ann, seed, gameID := replay.Player{ID: id.Derive([]byte("ann")), Name: "Ann"}, game.NewSeed(), id.New()
	_, err := s.Accounts.Create(ctx, store.Account{ID: ann.ID, Name: ann.Name}, 0)
	require.NoError(t, err)
	state, err := m.Create(ctx, hub, gameID, replaytest.Created(t, "classic", ann, seed), seed, time.Time{})
	require.NoError(t, err)
	served, err := hub.Acquire(ctx, gameID)
	require.NoError(t, err)
	defer served.Release()
	call := match.Call{PlayerID: ann.ID, Seat: game.NoSeat}
	for state.Status != replay.Finished && scoreOf(state) == 0 {
		call.Version, call.Action = state.Version, replay.Moved{Move: state.LegalMoves()[0]}
		event, err := served.Do(ctx, call)
		require.NoError(t, err)
		state = event.State
	}
	call.Version, call.Action = state.Version, replay.Resigned{}

	// stored requires that both the end of the game and its result are stored if ended is
	// set, and that neither is stored otherwise.
	stored := func(ended bool) {
		t.Helper()
		n := 0
		if ended {
			n = 1
		}
		tail, err := s.Games.Tail(ctx, gameID)
		require.NoError(t, err)
		assert.Equal(t, int(state.Version)+n, int(tail.Last.Version))
		board, err := s.Boards.Page(ctx, store.Board{Variant: "classic", Window: "all"}, 0, 10)
		require.NoError(t, err)
		assert.Len(t, board.Entries, n)
		counted, _, err := m.Profiles.Get(ctx, ann.ID)
		require.NoError(t, err)
		assert.Len(t, counted.GetLatest(), n)
		listed, err := s.Lists.Page(ctx, store.List{Status: store.Finished}, store.Place{}, 10)
		require.NoError(t, err)
		assert.Len(t, listed, n)
		due, err := s.Queue.Due(ctx, -time.Hour, time.Hour, 10)
		require.NoError(t, err)
		assert.Len(t, due, 1-n)
	}
	stored(false)
	jobs.err = store.Failed(store.Full, "the disk is full")
	_, err = served.Do(ctx, call)
	require.ErrorIs(t, err, jobs.err)
	stored(false)
	jobs.err = nil
	_, err = served.Do(ctx, call)
	require.NoError(t, err)
	stored(true)
	assert.Equal(t, 1, jobs.removed, "the result is not recorded again")
}

func scoreOf(s *replay.State) int32 { return directory.Of(s, 0).Score }
