package bot

import (
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/game"
	"github.com/gridstand/gridstand/game/tribolo"
	"github.com/gridstand/gridstand/game/tribolo/tribolotest"
)

// gridSearch is minimax's search, step by step, on a plain grid. It visits the same boards in
// the same order, and computes every jump by following the text of the rules.
type gridSearch struct {
	me       int
	resigned tribolo.SeatSet
	plies    []*gridList
	moves    []game.Cell // scratch list for counting moves
}

// gridList is the counterpart of jumpList for plain grids.
type gridList struct {
	moves []game.Cell
	grids []tribolotest.Grid
	order []int32
}

func (l *gridList) at(i int) *tribolotest.Grid { return &l.grids[l.order[i]&0xff] }

func (s *gridSearch) choose(p *tribolo.Position, depth int) game.Move {
	s.me, s.resigned = p.Turn(), p.Resigned()
	root := tribolotest.Of(p.Cells())
	list := s.list(0)
	list.moves = root.Moves(list.moves, s.me)
	s.expand(list, &root, s.me)
	first := func() game.Move { return game.To(list.moves[list.order[0]&0xff]) }
	if len(list.order) == 1 {
		return first()
	}
	board := p.Board()
	for d := 1; d <= min(depth, board.Empty().Len()); d++ {
		alpha := math.MinInt
		for i := range list.order {
			if value := s.after(1, list.at(i), s.me, d-1, alpha, math.MaxInt); value > alpha {
				alpha = value
				found := list.order[i]
				copy(list.order[1:i+1], list.order[:i])
				list.order[0] = found
			}
		}
	}
	return first()
}

// list clears the list for a ply and returns it.
func (s *gridSearch) list(ply int) *gridList {
	if ply == len(s.plies) {
		s.plies = append(s.plies, new(gridList))
	}
	l := s.plies[ply]
	l.moves, l.grids, l.order = l.moves[:0], l.grids[:0], l.order[:0]
	return l
}

// expand plays the moves of a list and sorts them as minimax does.
func (s *gridSearch) expand(l *gridList, g *tribolotest.Grid, seat int) {
	for i, to := range l.moves {
		l.grids = append(l.grids, *g)
		taken := l.grids[i].Play(seat, to)
		l.order = append(l.order, int32(-taken<<8|i))
	}
	slices.Sort(l.order)
}

func (s *gridSearch) after(ply int, g *tribolotest.Grid, mover, depth, alpha, beta int) int {
	if depth == 0 {
		return s.worth(g)
	}
	list := s.list(ply)
	var seat int
	seat, list.moves = g.Next(list.moves, mover, s.resigned)
	if seat == game.NoSeat {
		return s.end(g)
	}
	s.expand(list, g, seat)
	for i := range list.order {
		if alpha >= beta {
			break
		}
		value := s.after(ply+1, list.at(i), seat, depth-1, alpha, beta)
		if seat == s.me {
			alpha = max(alpha, value)
		} else {
			beta = min(beta, value)
		}
	}
	if seat == s.me {
		return alpha
	}
	return beta
}

func (s *gridSearch) margin(score func(seat int) int) int {
	return (&jumpSearch{me: s.me, resigned: s.resigned}).margin(score)
}

func (s *gridSearch) worth(g *tribolotest.Grid) int {
	over := true
	moves := s.margin(func(seat int) int {
		s.moves = g.Moves(s.moves[:0], seat)
		over = over && len(s.moves) == 0
		return len(s.moves)
	})
	if over {
		return s.end(g)
	}
	return worthCell*s.margin(g.Score) + worthMove*moves
}

func (s *gridSearch) end(g *tribolotest.Grid) int {
	cells := s.margin(g.Score)
	switch {
	case cells > 0:
		return worthEnd + cells
	case cells < 0:
		return cells - worthEnd
	default:
		return worthEnd / 2
	}
}

// TestMinimax_ChoosesAsOnPlainGrid compares the choices of the two searches on positions like
// those in BenchmarkMinimax.
func TestMinimax_ChoosesAsOnPlainGrid(t *testing.T) {
	t.Parallel()
	var plain gridSearch
	for _, p := range positionsTribolo(t, 20) {
		for depth := 1; depth <= 3; depth++ {
			m, err := seeded(t, "minimax", variant(t, "tribolo"), Options{Depth: depth}).Choose(t.Context(), p)
			require.NoError(t, err)
			assert.Equal(t, m, plain.choose(p, depth), "%d moves ahead on\n%s", depth, p.Board())
		}
	}
}
