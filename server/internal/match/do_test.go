package match

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/game"
	"github.com/gridstand/gridstand/game/replay"
	waittest "github.com/gridstand/gridstand/internal/testkit/wait"
	"github.com/gridstand/gridstand/server/internal/gamelog"
	"github.com/gridstand/gridstand/server/internal/store"
)

// Ensure that a job for other servers is stored before a game's last event and that the
// result is recorded after it, once for identical calls at the same time, and that the game
// does not end if the job cannot be stored.
func TestDo_Ends(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, env *env) {
		s := env.serve(env.addr)
		m := s.begin(name("a"), "classic")
		m.play(t, 3)
		soon, _ := s.work.counts()
		require.Equal(t, 1, soon, "only the creation needs a job yet")

		away := errors.New("away")
		s.work.err = away
		env.unwritten(name("a"), func() {
			_, err := m.Do(waittest.Context(t), resign(0))
			require.ErrorIs(t, err, away)
		})
		s.work.err = nil
		m.play(t, 1)
		ctx := waittest.Context(t)
		_, final, err := m.commit(ctx, func(ctx context.Context, m *Match, tip gamelog.Tip) (*Event, *gamelog.Draft, error) {
			m.do(t, resign(0)) // The same call is faster, and is then repeated.
			return resign(0).decide(ctx, m, tip)
		})
		require.NoError(t, err)
		assert.Equal(t, []string{name("a"), name("a"), name("a")}, s.work.soon)
		require.Len(t, s.work.ended, 1)
		same(t, final, s.work.ended[0])
		assert.Equal(t, []int32{2, 3, 4, 5, 6}, s.seen.versions())
		env.check(name("a"), s)

		// The server itself ends an abandoned game.
		left := s.begin(name("b"), "classic")
		state := left.do(t, Call{Seat: game.NoSeat, Version: 1, Action: replay.Abandoned{}}).State
		assert.Equal(t, game.Abandoned, state.Reason)
		env.check(name("b"), s)
	})
}

// Ensure that a game is created only in time, unless it exists already, and planned in both cases, that asking
// for one that does not exist keeps nothing in memory, and that no log is written for a game that has lost its own.
func TestCreate(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, env *env) {
		a, b := env.serve(env.addr), env.serve(env.addr)
		ctx, sd := waittest.Context(t), seed(t, 1)
		c := created(t, "classic", sd)
		first, err := a.Create(ctx, name("a"), c, sd, time.Time{})
		require.NoError(t, err)
		_, err = b.Create(ctx, name("b"), c, sd, first.CreateTime.Add(-time.Millisecond))
		require.ErrorIs(t, err, store.ErrTooLate)
		again, err := b.Create(ctx, name("a"), c, sd, first.CreateTime.Add(-time.Millisecond))
		require.NoError(t, err)
		same(t, first, again)
		_, err = b.Existing(ctx, name("b"), c)
		require.ErrorIs(t, err, gamelog.ErrNotFound)
		_, err = b.Acquire(ctx, name("b"))
		require.ErrorIs(t, err, gamelog.ErrNotFound)
		assert.Zero(t, b.Live(), "a game that does not exist does not stay in memory")
		_, err = b.Create(ctx, name("a"), created(t, "classic", seed(t, 2)), seed(t, 2), time.Time{})
		require.NoError(t, err)
		assert.Equal(t, []int{1, 2}, []int{a.work.planned, b.work.planned}, "also a game that exists")

		require.NoError(t, env.client.Del(ctx, logKey(name("a"))).Err())
		_, err = env.serve(env.addr).Create(ctx, name("a"), c, sd, time.Time{})
		damagedAt(t, err)
	})
}
