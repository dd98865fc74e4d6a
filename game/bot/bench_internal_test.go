package bot

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/game"
	"github.com/gridstand/gridstand/internal/ratio"
)

// BenchmarkRandomGames plays random games of classic to the end, once on a board packed into one
// word and once with the plain engine.
func BenchmarkRandomGames(b *testing.B) {
	v := variant(b, "classic")
	o, err := oddsOf(v)
	require.NoError(b, err)
	p := board48(b, v, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0)
	fast := newRollout(&o, startMeter(Options{}), p, math.MaxInt64)
	plain := fast
	plain.slider, plain.grid, plain.from = nil, p.Grid(), p.Grid().Cells
	games := func(r *rollout) func() int64 {
		return func() int64 {
			for range 100 {
				r.play(game.Right)
			}
			return 100
		}
	}
	require.Zero(b, testing.AllocsPerRun(10, func() { fast.play(game.Right) }), "allocations per game")
	b.Run("classic", func(b *testing.B) {
		ratio.Compare(b, "games/s", ratio.AtLeast(3.5), ratio.PerSecond(games(&fast)), ratio.PerSecond(games(&plain)))
	})
}

// BenchmarkExpectimax searches boards from all stages of classic games to the same depth with
// the same heuristic, once with the bot's search and once with the plain engine and a Go map.
func BenchmarkExpectimax(b *testing.B) {
	v := variant(b, "classic")
	ps := positions48(b, v, 50)
	const depth = 2
	expectimax := seeded(b, "expectimax", v, Options{Depth: depth})
	fast := func() (did int64) {
		for _, p := range ps {
			_, work, err := expectimax.decide(b.Context(), p)
			require.NoError(b, err)
			did += work
		}
		return did
	}
	o, err := oddsOf(v)
	require.NoError(b, err)
	r := reference{odds: &o, table: map[referenceKey]float64{}}
	plain := func() int64 {
		before := r.tried
		for _, p := range ps {
			r.values(p, depth)
		}
		return r.tried - before
	}
	require.Zero(b, testing.AllocsPerRun(100, func() {
		_, err := expectimax.Choose(b.Context(), ps[0])
		assert.NoError(b, err)
	}), "allocations per decision")
	b.Run(fmt.Sprintf("classic, %d tiles ahead", depth), func(b *testing.B) {
		ratio.Compare(b, "moves/s", ratio.AtLeast(3), ratio.PerSecond(fast), ratio.PerSecond(plain))
	})
}

// BenchmarkMinimax chooses a move for positions from all stages of Tribolo games, looking three
// moves ahead, once with the bot's search and once with the same search on a plain grid, which
// computes every jump by following the text of the rules.
func BenchmarkMinimax(b *testing.B) {
	ps := positionsTribolo(b, 50)
	const depth = 3
	minimax := seeded(b, "minimax", variant(b, "tribolo"), Options{Depth: depth})
	fast := func() int64 {
		for _, p := range ps {
			_, err := minimax.Choose(b.Context(), p)
			require.NoError(b, err)
		}
		return int64(len(ps))
	}
	var plain gridSearch
	b.Run(fmt.Sprintf("Tribolo, %d moves ahead", depth), func(b *testing.B) {
		ratio.Compare(b, "decisions/s", ratio.AtLeast(3), ratio.PerSecond(fast), ratio.PerSecond(func() int64 {
			for _, p := range ps {
				plain.choose(p, depth)
			}
			return int64(len(ps))
		}))
	})
}
