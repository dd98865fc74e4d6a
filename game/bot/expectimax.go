package bot

import (
	"math"
	"math/bits"

	"github.com/gridstand/gridstand/game"
	"github.com/gridstand/gridstand/game/twenty48"
)

// expectimax looks some moves ahead, weights every tile that can spawn in between by
// its probability, and judges the boards at the end by a heuristic.
type expectimax struct {
	odds
	depth int // spawns to look ahead at most

	// free is set if the options bound neither depth nor work: the default work
	// bounds the search.
	free bool
}

const (
	// maxDepth bounds the spawns to look ahead: it is reached only if there are
	// few legal moves.
	maxDepth = 15

	// Work for a decision if the options bound neither depth nor work. A search
	// does a third of it on average, since it does not begin a step that would
	// exceed it.
	defaultWork     = 100_000
	defaultWorkGrid = 20_000

	// worthWon is the worth of a won game, more than that of any board, and
	// worthLost that of a lost game, less than that of any board.
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

// search values the moves of one position.
type search interface {
	// value is the worth of moving towards d, which must be legal, looking ahead
	// depth spawns. It is meaningless if the meter's work is done.
	value(d game.Direction, depth int) float32
}

// deepen looks no spawn ahead, then one, and so on, so that there is an answer whenever
// the work is done. It does not begin a step that it cannot finish: it assumes that
// work grows by the same factor from step to step.
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

// best returns the best move at one depth, and whether the search finished.
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
