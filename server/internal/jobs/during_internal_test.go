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
	"github.com/gridstand/gridstand/server/internal/match"
	"github.com/gridstand/gridstand/server/internal/store"
	"github.com/gridstand/gridstand/server/internal/store/storetest"
)

// slow holds games whose entries wait until before has returned.
type slow struct {
	store.Games
	before func()
}

func (s *slow) Append(ctx context.Context, gameID string, e store.Entry) (store.Appended, error) {
	s.before()
	return s.Games.Append(ctx, gameID, e)
}

// dead is a Manager of a server that dies after each append.
type dead struct{ *Manager }

func (dead) Appended(context.Context, *replay.State) {}

// Ensure that a game has a job while an entry is appended whose follow-up work it is for, that no server processes
// it then, although it was due, and that it is due soon after that. If the append takes longer than the job is
// held, so that another server postpones it, the entry is refused and the job held again.
func TestManager_JobDuringAppend(t *testing.T) {
	t.Parallel()
	storetest.EachClock(t, func(t *testing.T, kept *store.Store, forward func(time.Duration)) {
		ctx, s, games := t.Context(), *kept, &slow{kept.Games, func() {}}
		s.Games = games
		m := newManager(&s, s.Queue)
		m.AbandonAfter = ever
		deadHub := func(name string) *match.Hub {
			return match.NewHub(match.Config{
				Log: m.Log, Feed: s.Feed, Jobs: dead{m}, Delivered: func(int) {}, ServerID: name, Idle: time.Hour,
			})
		}
		hub, elsewhere := deadHub("here"), deadHub("elsewhere")
		player, seed, gameID := replay.Player{ID: id.New(), Name: "Ann"}, game.NewSeed(), id.New()
		poll := polls(t, m.queue, func(ctx context.Context, job store.Job) (time.Time, error) {
			return m.process(ctx, elsewhere, job)
		})
		scheduled := func() time.Time {
			at, err := s.Queue.Scheduled(ctx, gameID)
			require.NoError(t, err)
			return at
		}
		games.before = func() {
			assert.Empty(t, poll())
			assert.False(t, scheduled().IsZero())
		}
		served := begin(t, m, hub, gameID, replaytest.Created(t, "classic", player, seed), seed)

		// A server that is slow to plan its new game shortens no hold of another one.
		held, err := m.Hold(ctx, gameID, time.Time{}, time.Time{})
		require.NoError(t, err)
		require.NoError(t, m.Plan(ctx, served.State()))
		assert.WithinRange(t, scheduled(), held, held.Add(time.Second))

		require.NoError(t, s.Queue.EnqueueBy(ctx, store.AtOnce, gameID))
		event, err := served.Do(ctx, match.Call{PlayerID: player.ID, Seat: game.NoSeat, Action: replay.Resigned{}})
		require.NoError(t, err)
		require.Equal(t, replay.Finished, event.State.Status)
		now, err := s.Time(ctx)
		require.NoError(t, err)
		assert.WithinRange(t, scheduled(), now, now.Add(leaseFor))
		require.NoError(t, s.Queue.Remove(ctx, gameID))

		var appends []time.Time // when the appends arrive
		games.before = func() {
			if len(appends) == 0 {
				forward(leaseFor)
				assert.NotEmpty(t, poll())
			}
			at, err := s.Time(ctx)
			require.NoError(t, err)
			appends = append(appends, at)
		}
		served = begin(t, m, hub, id.New(), replaytest.Created(t, "classic", player, seed), seed)
		require.Len(t, appends, 2)
		gameID, appends = served.State().ID, nil
		_, err = served.Do(ctx, match.Call{PlayerID: player.ID, Seat: game.NoSeat, Action: replay.Resigned{}})
		require.NoError(t, err)
		require.Len(t, appends, 2)
		assert.WithinRange(t, scheduled(), appends[1], appends[1].Add(leaseFor))
	})
}
