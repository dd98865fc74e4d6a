package bot

import (
	"sync"

	"github.com/gridstand/gridstand/game"
	"github.com/gridstand/gridstand/game/twenty48"
)

// search64 searches a 4×4 board packed into one word. A board and its transpose have the same
// value, so it searches a move up as a move to the left on the transpose.
type search64 struct {
	*odds
	meter  *meter
	slider *twenty48.Slider
	worths *rowWorths
	table  table
	root   twenty48.Board64
}

// searches64 is a pool of searches and their tables.
var searches64 = sync.Pool{New: func() any {
	return &search64{slider: twenty48.NewSlider(), worths: newRowWorths(), table: newTable()}
}}

// value implements search.
func (s *search64) value(d game.Direction, depth int) float32 {
	return s.after(s.slider.Slide(s.root, d), depth)
}

// after returns the value of b after a move and before a tile spawns: the mean over all tiles
// that can spawn.
func (s *search64) after(b twenty48.Board64, depth int) float32 {
	if s.end > 0 && b.Has(s.end) {
		return worthWon
	}
	if depth == 0 {
		return s.worths.board(b)
	}
	if value, ok := s.table.get(uint64(b), depth); ok {
		return value
	}
	empty := b.Empty()
	count := float32(empty.Count())
	var twos, fours float32
	for ; empty != 0; empty &= empty - 1 {
		if s.meter.over {
			return 0 // any value will do, because the result is discarded
		}
		spawned := empty & -empty
		twos += s.before(b|spawned, depth-1)
		if s.FoursIn > 0 {
			fours += s.before(b|spawned<<1, depth-1)
		}
	}
	value := (twos*(1-s.four) + fours*s.four) / count
	s.table.put(uint64(b), depth, value)
	return value
}

// before returns the value of b with the player to move: the value of the best move, or of a
// lost game if no move is legal.
func (s *search64) before(b twenty48.Board64, depth int) float32 {
	idle := s.IdleMoves && b.Empty() != 0
	value, tried := float32(worthLost), int64(0)
	for _, from := range [2]twenty48.Board64{b, b.Transposed()} {
		if left := s.slider.Left(from); left != from || idle {
			value = max(value, s.after(left, depth))
			tried++
		}
		if right := s.slider.Right(from); right != from || idle {
			value = max(value, s.after(right, depth))
			tried++
		}
	}
	s.meter.spend(tried)
	return value
}
