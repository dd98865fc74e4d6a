package jobs

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/game"
	"github.com/gridstand/gridstand/game/replay"
	"github.com/gridstand/gridstand/internal/id"
	"github.com/gridstand/gridstand/server/internal/challenge"
	"github.com/gridstand/gridstand/server/internal/gamelog"
	"github.com/gridstand/gridstand/server/internal/store"
	"github.com/gridstand/gridstand/server/internal/store/storetest"
)

// Ensure that a race closes when its last result is recorded, also if the server that stored
// the result dies before the job is removed and the result is recorded again.
func TestManager_LastResult(t *testing.T) {
	t.Parallel()
	storetest.EachClock(t, func(t *testing.T, s *store.Store, forward func(time.Duration)) {
		ctx, jobs := t.Context(), &full{Queue: s.Queue}
		m := newManager(s, jobs)
		now := func() time.Time {
			now, err := s.Time(ctx)
			require.NoError(t, err)
			return now
		}
		ann, bob := replay.Player{ID: id.Derive([]byte("ann")), Name: "Ann"}, replay.Player{ID: id.Derive([]byte("bob")), Name: "Bob"}
		race, err := m.Challenges.Create(ctx, challenge.Challenge{
			ID: id.New(), Kind: replay.Race, Variant: "classic", Revision: 1, Creator: ann, Seed: game.NewSeed(), Limit: time.Minute,
		}, now())
		require.NoError(t, err)
		_, err = m.Challenges.Join(ctx, race.ID, bob.ID, challenge.Entrant{Player: bob})
		require.NoError(t, err)
		may := func(*challenge.Challenge) error { return nil }
		race, err = m.Challenges.Start(ctx, race.ID, may, may)
		require.NoError(t, err)
		forward(challenge.Countdown)

		for i, e := range race.Entrants {
			require.NoError(t, m.Begin(ctx, e.GameID))
			draft, err := gamelog.NewGame(e.GameID, race.Attempt(e, 0), race.Seed)
			require.NoError(t, err)
			begun, err := m.Log.Append(ctx, draft)
			require.NoError(t, err)
			draft, err = begun.Tip.Draft(replay.Entry{Action: replay.Resigned{}}, time.Time{}, nil)
			require.NoError(t, err)
			over, err := m.Log.Append(ctx, draft)
			require.NoError(t, err)
			if last := i == len(race.Entrants)-1; last {
				jobs.err = errors.New("killed")
				require.ErrorIs(t, m.record(ctx, over.Tip.State), jobs.err)
				jobs.err = nil
			}
			require.NoError(t, m.record(ctx, over.Tip.State))
		}
		forward(time.Millisecond)
		closed, at, err := m.Challenges.Get(ctx, race.ID)
		require.NoError(t, err)
		assert.Equal(t, challenge.Closed, closed.Status(at))
		assert.Equal(t, race.Seed.Commitment(), closed.Revealed(at).Commitment())
		due, err := s.Queue.Due(ctx, -time.Hour, time.Hour, 10)
		require.NoError(t, err)
		assert.Empty(t, due)
	})
}
