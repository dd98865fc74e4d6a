package bot

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/game"
	"github.com/gridstand/gridstand/game/twenty48"
	"github.com/gridstand/gridstand/game/variants"
)

func variant(t testing.TB, id string) game.Variant {
	t.Helper()
	v, ok := variants.Current(id)
	require.True(t, ok)
	return v
}

// BenchmarkRandomGames plays whole classic games from the start at random, on
// a board in one word and by the plain engine.
func BenchmarkRandomGames(b *testing.B) {
	v := variant(b, "classic")
	o, err := oddsOf(v)
	require.NoError(b, err)
	p, err := v.Rules.(*twenty48.Rules).Position([]int32{0, 2, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0}, 0, 0)
	require.NoError(b, err)
	m := new(meter)
	m.start(context.Background(), Options{}, 1)
	fast := newRollout(&o, m, p, 1<<62)
	plain := fast
	plain.slider, plain.grid, plain.from = nil, p.Grid(), p.Grid().Cells
	for _, tc := range []struct {
		name string
		rollout
	}{{"Board64", fast}, {"Grid", plain}} {
		b.Run(tc.name, func(b *testing.B) {
			b.ReportAllocs()
			var score int64
			m.done = 0
			c0 := cpuNow()
			for b.Loop() {
				score += tc.play(game.Right)
			}
			b.ReportMetric(float64(score)/float64(b.N), "points/game")
			b.ReportMetric(float64(m.done)/float64(b.N), "moves/game")
			b.ReportMetric(float64(cpuNow()-c0)/float64(m.done), "cpu-ns/move")
		})
	}

}

func benchBoards(b testing.TB) []game.Position {
	v := variant(b, "classic")
	e, err := New("expectimax", v, Options{Depth: 3})
	require.NoError(b, err)
	var ps []game.Position
	for g := range 3 {
		p := v.Rules.Start(seedOf(g).Draws(1))
		for p.Turn() != game.NoSeat {
			m, err := e.Choose(context.Background(), p)
			require.NoError(b, err)
			p, _, err = v.Rules.Move(p, 0, m, seedOf(g).Draws(p.MoveCount()+2))
			require.NoError(b, err)
			if p.MoveCount()%100 == 0 {
				ps = append(ps, p)
			}
		}
	}
	return ps
}

func BenchmarkExpectimax(b *testing.B) {
	ps := benchBoards(b)
	e, err := New("expectimax", variant(b, "classic"), Options{Depth: 4})
	require.NoError(b, err)
	b.ReportAllocs()
	var work int64
	c0 := cpuNow()
	for b.Loop() {
		for _, p := range ps {
			_, w, err := e.(*bot).decide(context.Background(), p)
			require.NoError(b, err)
			work += w
		}
	}
	b.ReportMetric(float64(cpuNow()-c0)/float64(work), "cpu-ns/moved")
	b.ReportMetric(float64(len(ps)), "boards/op")
}
