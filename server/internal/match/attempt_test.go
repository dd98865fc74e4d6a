package match

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/game"
	"github.com/gridstand/gridstand/game/replay"
	waittest "github.com/gridstand/gridstand/internal/testkit/wait"
)

// window is the window of all attempts. Unless a fresh window is requested, it returns the
// previous one, like a server whose data is out of date.
type window struct {
	from, to           time.Time
	knownFrom, knownTo time.Time
	postponed          time.Time // the close after the next fresh request, unless zero
}

func (w *window) Window(_ context.Context, _ *replay.State, fresh bool) (from, to time.Time, err error) {
	if !fresh && !w.knownFrom.IsZero() {
		return w.knownFrom, w.knownTo, nil
	}
	if w.from.IsZero() {
		return from, to, replay.ErrNotStarted
	}
	to = w.to
	if !w.postponed.IsZero() {
		w.to, w.postponed = w.postponed, time.Time{}
	}
	return w.from, to, nil
}

func (w *window) set(from, to time.Time) {
	w.knownFrom, w.knownTo = w.from, w.to
	w.from, w.to = from, to
}

// Ensure that a player can move and resign in an attempt only while its challenge is open,
// even if this server's times are out of date, and cannot undo moves.
func TestDo_Attempt(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, env *env) {
		s, open := env.serve(env.addr), &window{}
		s.Window = open.Window
		gameID, sd := name("a"), seed(t, 'a')
		attempt := created(t, "classic", sd)
		attempt.Attempt = replay.Attempt{ChallengeID: name("c"), Kind: replay.Race}
		state, err := s.Create(waittest.Context(t), gameID, attempt, sd, time.Time{})
		require.NoError(t, err)
		m, at := s.match(gameID), state.UpdateTime
		refused := func(call Call, want error) {
			env.unwritten(gameID, func() {
				_, err := m.Do(waittest.Context(t), call)
				require.ErrorIs(t, err, want)
			})
		}

		refused(move(state, 0), replay.ErrNotStarted)
		open.set(at.Add(time.Hour), at.Add(2*time.Hour))
		refused(move(state, 0), replay.ErrNotStarted)
		refused(resign(1), replay.ErrNotStarted)
		open.set(at.Add(-2*time.Hour), at.Add(-time.Hour))
		refused(move(state, 0), replay.ErrGameOver)
		open.postponed = at.Add(time.Hour)
		first := m.do(t, move(state, 0))
		open.set(at.Add(-2*time.Hour), at.Add(-time.Hour))
		open.set(at, at.Add(time.Hour))
		m.do(t, move(first.State, 0))
		refused(Call{PlayerID: ann.ID, Version: 3, Seat: game.NoSeat, Action: replay.Undone{To: 1}}, ErrUndoAttempt)

		open.set(at.Add(-2*time.Hour), at.Add(-time.Hour))
		open.set(at.Add(-2*time.Hour), at.Add(-time.Hour))
		refused(resign(3), replay.ErrGameOver)
		assert.Equal(t, first, m.do(t, move(state, 0)), "a repeated move returns the same event after the close")
		end := m.do(t, Call{Version: 3, Seat: 0, Action: replay.TimedOut{}, NotBefore: at})
		assert.Equal(t, game.TimedOut, end.State.Reason)
		_, err = m.Join(waittest.Context(t), bob, game.NoSeat)
		require.ErrorIs(t, err, ErrSeatTaken, "the answer does not tell other players that the attempt is over")
		assert.True(t, end.State.Ranked)
		assert.True(t, end.State.RevealedSeed().IsZero())
		assert.Equal(t, sd.SeedBytes(), end.State.Reveal(sd).RevealedSeed().SeedBytes())
		env.check(gameID, s)
	})
}
