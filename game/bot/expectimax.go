package bot

import (
	"cmp"
	"math"
	"math/bits"

	"github.com/gridstand/gridstand/game"
	"github.com/gridstand/gridstand/game/twenty48"
)

const (
	// maxDepth limits the number of spawns to look ahead. The search reaches it only if there
	// are few legal moves.
	maxDepth = 15

	// defaultWork and defaultWorkGrid limit the work of a decision if the options limit neither
	// depth nor work. On average a search uses a third of its limit, because it does not start
	// a step that would exceed the limit.
	defaultWork     = 100_000
	defaultWorkGrid = 20_000

	// worthWon is the value of a won game, which is higher than that of any board. worthLost is
	// the value of a lost game, which is lower than that of any board.
	worthWon  = 10_000_000
	worthLost = 0
)

// expectimax looks several moves ahead, weights every tile that may spawn in between by its
// probability, and rates the resulting boards with a heuristic.
func expectimax(o *odds, m *meter, p *twenty48.Position) game.Move {
	if b, ok := p.Board64(); ok {
		s := searches64.Get().(*search64)
		defer searches64.Put(s)
		s.odds, s.meter, s.root = o, m, b
		s.table.forget()
		m.bound(defaultWork)
		return deepen(m, p.Legal(), s)
	}
	s := searchGrids.Get().(*searchGrid)
	defer searchGrids.Put(s)
	s.odds, s.meter = o, m
	s.begin(p.Grid())
	s.table.forget()
	m.bound(defaultWorkGrid)
	return deepen(m, p.Legal(), s)
}

// search rates the moves of one position.
type search interface {
	// value returns the value of moving in direction d, which must be legal, looking depth
	// spawns ahead. The result is meaningless once the meter's work limit is reached.
	value(d game.Direction, depth int) float32
}

// deepen looks 0 spawns ahead, then 1, and so on, so that it always has a move to return when
// it reaches the work limit. It assumes that the work grows by a constant factor from step to
// step, and does not start a step that it could not finish.
func deepen(m *meter, legal twenty48.Directions, s search) (move game.Move) {
	deepest := min(cmp.Or(m.Depth, maxDepth), maxDepth)
	if bits.OnesCount8(uint8(legal)) == 1 {
		deepest = 0
	}
	last := int64(1)
	for depth := range deepest + 1 {
		before := m.done
		found, whole := best(m, legal, s, depth)
		if whole || depth == 0 {
			move = found
		}
		took := m.done - before
		if !whole || took*max(2, took/last) > m.left() {
			break
		}
		last = took
	}
	return move
}

// best returns the best move at the given depth, and reports whether the search finished.
func best(m *meter, legal twenty48.Directions, s search, depth int) (best game.Move, whole bool) {
	highest := float32(math.Inf(-1))
	for _, d := range directions {
		if !legal.Has(d) {
			continue
		}
		if value := s.value(d, depth); value > highest {
			best, highest = game.Slide(d), value
		}
		if m.spend(1) {
			return best, false
		}
	}
	return best, true
}
