package bot

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/game"
)

// timed runs two ways to do the same in turns and reports how many times
// faster the first is. Each returns the units of work that it did. What else
// the machine does meets both.
func timed(b *testing.B, fast, plain func() int64) {
	b.Helper()
	var took [2]time.Duration
	var did [2]int64
	for b.Loop() {
		for i, run := range []func() int64{fast, plain} {
			start := time.Now()
			did[i] += run()
			took[i] += time.Since(start)
		}
	}
	rate := func(i int) float64 { return float64(did[i]) / took[i].Seconds() }
	b.ReportMetric(rate(0)/rate(1), "times-faster")
	b.ReportMetric(0, "ns/op")
}

// one runs one of them by itself, for its rate and what it allocates.
func one(b *testing.B, unit string, run func() int64) {
	b.Helper()
	b.ReportAllocs()
	var did int64
	for b.Loop() {
		did += run()
	}
	b.ReportMetric(float64(did)/b.Elapsed().Seconds(), unit+"/s")
}

// BenchmarkRandomGames plays classic to its end at random, on a board in one
// word and by the plain engine.
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
	b.Run("Board64", func(b *testing.B) { one(b, "games", games(&fast)) })
	b.Run("Grid", func(b *testing.B) { one(b, "games", games(&plain)) })
	b.Run("both", func(b *testing.B) { timed(b, games(&fast), games(&plain)) })
}

// BenchmarkExpectimax searches boards of all stages of games of classic to the
// same depth with the same heuristic: as the bot does it, and by the plain
// engine with a Go map.
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
			clear(r.table)
			cells := p.Grid().Cells
			for _, d := range directions {
				if p.Legal().Has(d) {
					r.tried++
					r.after(r.slid(cells, d, depth), depth)
				}
			}
		}
		return r.tried - before
	}
	b.Run("Board64", func(b *testing.B) { one(b, "moves", fast) })
	b.Run("Grid", func(b *testing.B) { one(b, "moves", plain) })
	b.Run("both", func(b *testing.B) { timed(b, fast, plain) })
}

// BenchmarkMinimax decides a move at positions of all stages of games of
// Tribolo, three moves ahead.
func BenchmarkMinimax(b *testing.B) {
	v := triboloVariant()
	ps := positionsTribolo(b, 50)
	minimax := seeded(b, "minimax", v, Options{Depth: 3})
	one(b, "decisions", func() int64 {
		for _, p := range ps {
			_, err := minimax.Choose(b.Context(), p)
			require.NoError(b, err)
		}
		return int64(len(ps))
	})
}
