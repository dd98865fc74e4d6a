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

// full holds boards that record nothing if err is set, as if the disk were full.
type full struct {
	store.Boards
	err error
}

func (f *full) Record(ctx context.Context, entry store.BoardEntry, boards ...store.Board) error {
	if f.err != nil {
		return f.err
	}
	return f.Boards.Record(ctx, entry, boards...)
}

// Ensure that the result of a game is recorded before the player gets the reply to its last move or, if that
// fails, by the game's job, which is stored before the move.
func TestManager_Result(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, kept *store.Store) {
		for _, failure := range []error{nil, store.Failed(store.Full, "the disk is full")} {
			ctx, s, boards := t.Context(), *kept, &full{kept.Boards, failure}
			s.Boards = boards
			m := newManager(&s, s.Queue)
			hub := newHub(m, &s, "here")
			player, seed, gameID := replay.Player{ID: id.New(), Name: "Ann"}, game.NewSeed(), id.New()
			_, err := s.Accounts.Create(ctx, store.Account{ID: player.ID, Name: player.ID[:8]}, 0)
			require.NoError(t, err)
			served := begin(t, m, hub, gameID, replaytest.Created(t, "classic", player, seed), seed)
			call, state := match.Call{PlayerID: player.ID, Seat: game.NoSeat}, served.State()
			for directory.Of(state, 0).Score == 0 {
				call.Version, call.Action = state.Version, replay.Moved{Move: state.LegalMoves()[0]}
				event, err := served.Do(ctx, call)
				require.NoError(t, err)
				state = event.State
			}
			require.NoError(t, s.Queue.Remove(ctx, gameID)) // so that only a job for the last move can exist
			call.Version, call.Action = state.Version, replay.Resigned{}
			event, err := served.Do(ctx, call)
			require.NoError(t, err)
			assert.Equal(t, replay.Finished, event.State.Status)

			recorded := func() bool {
				_, placed, err := s.Boards.Place(ctx, store.Board{Variant: "classic", Window: "all"}, player.ID)
				require.NoError(t, err)
				counted, _, err := m.Profiles.Get(ctx, player.ID)
				require.NoError(t, err)
				listed, err := s.Lists.Page(ctx, store.List{Status: store.Finished}, store.Place{}, 1)
				require.NoError(t, err)
				job, err := s.Queue.Scheduled(ctx, gameID)
				require.NoError(t, err)
				is := placed && len(counted.GetLatest()) == 1 && len(listed) == 1 && listed[0].GameID == gameID
				assert.Equal(t, is, job.IsZero())
				return is
			}
			assert.Equal(t, failure == nil, recorded())
			boards.err = nil
			next, err := m.process(ctx, hub, store.Job{GameID: gameID, Leased: time.Now(), Expires: time.Now()})
			require.NoError(t, err)
			assert.Zero(t, next)
			assert.True(t, recorded())
		}
	})
}
