package bot

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/game"
)

func TestGreedyAndRote(t *testing.T) {
	t.Parallel()
	v := variant(t, "classic")
	for _, tc := range []struct {
		name  string
		bot   string
		moves int32
		tiles []int32
		want  game.Direction
	}{
		{"greedy takes the most points", "greedy", 0, []int32{2, 2, 0, 0, 4, 0, 0, 0, 4, 0, 0, 0, 0, 0, 0, 0}, game.Up},
		{"greedy, rows give more", "greedy", 0, []int32{2, 0, 0, 0, 2, 0, 0, 0, 4, 4, 0, 0, 0, 0, 0, 0}, game.Right},
		{"greedy, up before down", "greedy", 0, []int32{2, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}, game.Up},
		{"greedy, right before left", "greedy", 0, []int32{2, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}, game.Right},
		{"greedy, no points available", "greedy", 0, []int32{2, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}, game.Right},
		{"rote, even", "rote", 0, []int32{0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}, game.Left},
		{"rote, odd", "rote", 1, []int32{0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}, game.Down},
		{"rote, even, no left", "rote", 2, []int32{2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}, game.Down},
		{"rote, odd, no down", "rote", 3, []int32{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0}, game.Left},
		{"rote, even, right comes last", "rote", 4, []int32{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0}, game.Right},
		{"rote, only up", "rote", 5, []int32{0, 0, 0, 0, 0, 0, 0, 0, 2, 4, 2, 4, 4, 2, 4, 2}, game.Up},
	} {
		m := choose(t, tc.bot, v, Options{}, board48(t, v, tc.moves, tc.tiles...))
		assert.Equal(t, game.Slide(tc.want), m, tc.name)
	}
	// In restless, up is legal here although it changes nothing, and scores as little as the
	// other moves.
	v = variant(t, "restless")
	p := board48(t, v, 0, 2, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
	assert.Equal(t, game.Slide(game.Up), choose(t, "greedy", v, Options{}, p))
}

func TestRollouts_Cut(t *testing.T) {
	t.Parallel()
	v := variant(t, "6x6")
	p := v.Rules.Start(seed(1).Draws(1))
	_, work, err := seeded(t, "montecarlo", v, Options{Rollouts: 3}).decide(t.Context(), p)
	require.NoError(t, err)
	assert.EqualValues(t, 3*len(p.LegalMoves())*cutMoves, work)
}
