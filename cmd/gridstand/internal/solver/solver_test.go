package solver_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/cmd/gridstand/internal/solver"
	"github.com/gridstand/gridstand/game"
	"github.com/gridstand/gridstand/game/replay"
	"github.com/gridstand/gridstand/game/variants"
	"github.com/gridstand/gridstand/proto/translate"
)

// Ensure that every bot chooses legal moves in every variant, given API positions.
func TestChoose(t *testing.T) {
	t.Parallel()
	for _, v := range variants.All() {
		seed := game.NewSeed()
		seats := make([]replay.Seat, v.Seats)
		for i := range seats {
			seats[i] = replay.Seat{Player: replay.Player{ID: string(rune('a' + i))}}
		}
		e, err := replay.Start("", replay.Entry{Seat: game.NoSeat, Action: replay.Created{
			Variant: v.ID, Revision: v.Revision, Commitment: seed.Commitment(), Seats: seats,
		}}, seed, time.Unix(0, 0))
		require.NoError(t, err)
		if v.Seats > 1 {
			other := (e.State.Turn() + 1) % v.Seats
			e, err = e.State.Apply(replay.Entry{Seat: other, Action: replay.Resigned{}}, time.Unix(1, 0))
			require.NoError(t, err)
		}
		if e.State.Turn() == game.NoSeat {
			continue // the game is over, because only bots were left
		}
		p := translate.Position(e.State)
		require.NotEmpty(t, solver.Names(v.ID))
		for _, name := range solver.Names(v.ID) {
			s, err := solver.New(v.ID, v.Revision, name, 5*time.Millisecond)
			require.NoError(t, err)
			m, err := s.Choose(t.Context(), p, translate.Seats(e.State.Seats))
			require.NoError(t, err, "%s %s", v.ID, name)
			assert.Contains(t, e.State.LegalMoves(), m, "%s %s", v.ID, name)
			assert.Equal(t, name, s.Name())
		}
	}
}

// Ensure that unknown bots and rules are refused.
func TestUnknown(t *testing.T) {
	t.Parallel()
	_, err := solver.New("classic", 1, "nobody", 0)
	require.ErrorIs(t, err, solver.ErrUnknown)
	_, err = solver.New("classic", 99, "greedy", 0)
	require.ErrorIs(t, err, solver.ErrUnknown)
	assert.Empty(t, solver.Names("nothing"))
}
