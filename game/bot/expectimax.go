package bot

import (
	"math"
	"math/bits"

	"github.com/gridstand/gridstand/game"
	"github.com/gridstand/gridstand/game/twenty48"
)

// expectimax looks several moves ahead, weights every tile that may spawn in between by its
// probability, and rates the resulting boards with a heuristic.
type expectimax struct {
	odds
	depth int // maximum number of spawns to look ahead

	// free is set if the options limit neither depth nor work. In that case, defaultWork limits
	// the search.
	free bool
}

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

func newExpectimax(v game.Variant, o Options) (chooser, error) {
	known, err := oddsOf(v)
	if err != nil {
		return nil, err
	}
	e := &expectimax{odds: known, depth: maxDepth, free: o.Depth == 0 && o.Work == 0}
	if o.Depth > 0 {
		e.depth = min(o.Depth, maxDepth)
	}
	return e, nil
}

func (e *expectimax) choose(m *meter, p game.Position) (game.Move, error) {
	own, err := e.own(p)
	if err != nil {
		return game.Move{}, err
	}
	if b, ok := own.Board64(); ok {
		s := searches64.Get().(*search64)
		defer searches64.Put(s)
		s.odds, s.meter, s.root = &e.odds, m, b
		s.table.forget()
		return e.deepen(m, own.Legal(), s, defaultWork), nil
	}
	s := searchGrids.Get().(*searchGrid)
	defer searchGrids.Put(s)
	s.odds, s.meter = &e.odds, m
	s.begin(own.Grid())
	s.table.forget()
	return e.deepen(m, own.Legal(), s, defaultWorkGrid), nil
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
func (e *expectimax) deepen(m *meter, legal twenty48.Directions, s search, work int64) game.Move {
	if bits.OnesCount8(uint8(legal)) == 1 {
		best, _ := e.best(m, legal, s, 0)
		return best
	}
	if e.free {
		m.limit = work
	}
	var best game.Move
	last := int64(1)
	for depth := 0; depth <= e.depth; depth++ {
		before := m.done
		found, whole := e.best(m, legal, s, depth)
		if whole || depth == 0 {
			best = found
		}
		took := m.done - before
		if !whole || took*max(2, took/last) > m.left() {
			break
		}
		last = took
	}
	return best
}

// best returns the best move at the given depth, and reports whether the search finished.
func (e *expectimax) best(m *meter, legal twenty48.Directions, s search, depth int) (best game.Move, whole bool) {
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
