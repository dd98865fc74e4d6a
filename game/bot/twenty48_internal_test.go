package bot

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/game"
	"github.com/gridstand/gridstand/game/variants"
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
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			m, err := seeded(t, tc.bot, v, Options{}).Choose(t.Context(), board48(t, v, tc.moves, tc.tiles...))
			require.NoError(t, err)
			assert.Equal(t, game.Slide(tc.want), m)
		})
	}
}

func TestGreedy_MayWait(t *testing.T) {
	t.Parallel()
	// In restless, up is legal here although it changes nothing, and scores as little as the
	// other moves.
	v := variant(t, "restless")
	p := board48(t, v, 0, 2, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
	m, err := seeded(t, "greedy", v, Options{}).Choose(t.Context(), p)
	require.NoError(t, err)
	assert.Equal(t, game.Slide(game.Up), m)
}

// TestRolloutsAgree plays random games with boards packed into one word and with the plain
// engine. Both must give the same average score and length.
func TestRolloutsAgree(t *testing.T) {
	t.Parallel()
	for _, v := range variants.All() {
		if v.Kind != game.Twenty48 || v.Rows != 4 {
			continue
		}
		t.Run(v.ID, func(t *testing.T) {
			t.Parallel()
			o, err := oddsOf(v)
			require.NoError(t, err)
			// From this position, some games are short, some are long, and some are won.
			p := board48(t, v, 0, 1024, 512, 512, 2, 4, 8, 16, 4, 0, 0, 0, 8, 2, 0, 0, 2)
			fast := newRollout(&o, startMeter(Options{}), p, math.MaxInt64)
			require.NotNil(t, fast.slider)
			plain := fast
			plain.meter = startMeter(Options{})
			plain.slider, plain.grid, plain.from = nil, p.Grid(), p.Grid().Cells
			const games = 4000
			var sums, squares [2]float64
			for range games {
				for i, r := range []*rollout{&fast, &plain} {
					score := float64(r.play(game.Left))
					sums[i] += score
					squares[i] += score * score
				}
			}
			mean := sums[0] / games
			deviation := math.Sqrt((squares[0]/games - mean*mean) / games)
			assert.InDelta(t, sums[1]/games, mean, 6*deviation, "mean score")
			assert.InEpsilon(t, plain.meter.done, fast.meter.done, 0.1, "moves")
		})
	}
}

func TestRollouts_Cut(t *testing.T) {
	t.Parallel()
	v := variant(t, "6x6")
	p := v.Rules.Start(seed(t, 1).Draws(1))
	_, work, err := seeded(t, "montecarlo", v, Options{Rollouts: 3}).decide(t.Context(), p)
	require.NoError(t, err)
	assert.EqualValues(t, 3*len(p.LegalMoves())*cutMoves, work)
}

func TestOrders_Complete(t *testing.T) {
	t.Parallel()
	seen := map[uint8]bool{}
	for _, order := range orders {
		assert.Equal(t, 0b1111, 1<<(order&3)|1<<(order>>2&3)|1<<(order>>4&3)|1<<(order>>6), "%08b", order)
		seen[order] = true
	}
	assert.Len(t, seen, 24)
}
