package bot

import (
	"github.com/gridstand/gridstand/game"
	"github.com/gridstand/gridstand/game/twenty48"
)

// expectimax looks some moves ahead, weighs every tile that can spawn in
// between by how likely it is, and judges the boards at the end by a
// heuristic.
type expectimax struct {
	odds
	depth  int
	cutoff float32
}

const (
	defaultDepth = 3

	// worthWon is the worth of a game that is won: more than any board can have.
	worthWon = 10_000_000
)

func newExpectimax(v game.Variant, o Options) (chooser, error) {
	known, err := oddsOf(v)
	if err != nil {
		return nil, err
	}
	e := &expectimax{odds: known, depth: o.Depth, cutoff: cutoffX}
	if e.depth == 0 {
		e.depth = defaultDepth
	}
	return e, nil
}

var cutoffX float32

func (e *expectimax) choose(m *meter, p game.Position) (game.Move, error) {
	own, err := e.own(p)
	if err != nil {
		return game.Move{}, err
	}
	if b, ok := own.Board64(); ok {
		s := searches64.Get().(*search64)
		defer searches64.Put(s)
		s.odds, s.meter, s.root, s.cutoff = &e.odds, m, b, e.cutoff
		s.table.forget()
		return e.deepen(m, own.Legal(), s), nil
	}
	panic("later")
}

// search values the moves of one position.
type search interface {
	// value is the worth of moving towards d, which must be legal, looking
	// depth moves ahead with that one. It means nothing once the meter's work is done.
	value(d game.Direction, depth int) float32
}

// deepen searches one move ahead, then two, and so on, so that there is an
// answer whenever the work is done.
func (e *expectimax) deepen(m *meter, legal twenty48.Directions, s search) game.Move {
	var best game.Move
	for depth := 1; depth <= e.depth; depth++ {
		var found game.Move
		highest := float32(-1)
		for _, d := range directions {
			if !legal.Has(d) {
				continue
			}
			if best == (game.Move{}) {
				best = game.Slide(d)
			}
			if value := s.value(d, depth); value > highest {
				found, highest = game.Slide(d), value
			}
			if m.spend(1) {
				return best
			}
		}
		best = found
	}
	return best
}

// value implements search.
func (s *search64) value(d game.Direction, depth int) float32 {
	b, _ := s.slider.Slide(s.root, d)
	return s.after(b, depth, 1)
}
