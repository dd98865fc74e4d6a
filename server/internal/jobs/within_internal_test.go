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
	"github.com/gridstand/gridstand/server/internal/gamelog"
	"github.com/gridstand/gridstand/server/internal/store"
	"github.com/gridstand/gridstand/server/internal/store/sqlite"
	"github.com/gridstand/gridstand/server/internal/store/storetest"
)

// full is a queue whose Remove fails with err if err is set, as if the disk were full.
type full struct {
	store.Queue
	err error
}

func (f *full) Remove(ctx context.Context, gameID string) error {
	if f.err != nil {
		return f.err
	}
	return f.Queue.Remove(ctx, gameID)
}

// Ensure that the end of a game and its result are stored either together or not at all.
func TestManager_Within(t *testing.T) {
	t.Parallel()
	s := storetest.OnSQLite(t, sqlite.Options{Memory: true})
	require.True(t, s.Transactional())
	ctx, jobs := t.Context(), &full{Queue: s.Queue}
	m := newManager(s, jobs)

	ann, seed, gameID := replay.Player{ID: id.Derive([]byte("ann")), Name: "Ann"}, game.NewSeed(), id.New()
	draft, err := gamelog.NewGame(gameID, replaytest.Created(t, "classic", ann, seed), seed)
	require.NoError(t, err)
	last, err := m.Log.Append(ctx, draft)
	require.NoError(t, err)
	_, err = s.Accounts.Create(ctx, store.Account{ID: ann.ID, Name: ann.Name}, 0)
	require.NoError(t, err)
	require.NoError(t, m.Begin(ctx, gameID))
	for last.Event.State.Result == nil && scoreOf(last.Tip.State) == 0 {
		draft, err = last.Tip.Draft(replay.Entry{Action: replay.Moved{Move: last.Tip.State.LegalMoves()[0]}}, time.Time{}, nil)
		require.NoError(t, err)
		last, err = m.Log.Append(ctx, draft)
		require.NoError(t, err)
	}
	draft, err = last.Tip.Draft(replay.Entry{Action: replay.Resigned{}}, time.Time{}, nil)
	require.NoError(t, err)
	draft.Then = m.Within

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
		assert.Equal(t, int(last.Tip.ID.Version)+n, int(tail.Last.Version))
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
	_, err = m.Log.Append(ctx, draft)
	require.ErrorIs(t, err, jobs.err)
	stored(false)
	jobs.err = nil
	appended, err := m.Log.Append(ctx, draft)
	require.NoError(t, err)
	assert.True(t, appended.Then)
	stored(true)
}

func scoreOf(s *replay.State) int32 { return directory.Of(s, 0).Score }
