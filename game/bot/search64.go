package bot

import (
	"sync"

	"github.com/gridstand/gridstand/game/twenty48"
)

// search64 is a search on a board of 4×4 in one word. A board and its
// transpose are worth the same, so a move up is searched as a move to the left
// of the transpose, which is not turned back.
type search64 struct {
	*odds
	meter  *meter
	slider *twenty48.Slider
	worths *rowWorths
	table  table
	root   twenty48.Board64
	cutoff float32
}

var searches64 = sync.Pool{New: func() any {
	return &search64{slider: twenty48.NewSlider(), worths: newRowWorths(), table: newTable()}
}}

// moves are b slid up, right, down and left, the vertical ones transposed.
// What equals the board before it does not change it.
type moves64 struct{ board, transposed, up, right, down, left twenty48.Board64 }

// best is the value of b for the player, who is to move and looks depth moves
// ahead: that of the best move, 0 when the game is lost.
func (s *search64) best(b twenty48.Board64, depth int, prob float32) float32 {
	if depth == 1 && s.goal == 0 && !s.idle {
		return s.leaf(b)
	}
	t := b.Transposed()
	idle := s.idle && b.Empty() != 0
	var value float32
	tried := int64(0)
	if l := s.slider.Left(b); l != b || idle {
		value = max(value, s.after(l, depth, prob))
		tried++
	}
	if r := s.slider.Right(b); r != b || idle {
		value = max(value, s.after(r, depth, prob))
		tried++
	}
	if u := s.slider.Left(t); u != t || idle {
		value = max(value, s.after(u, depth, prob))
		tried++
	}
	if d := s.slider.Right(t); d != t || idle {
		value = max(value, s.after(d, depth, prob))
		tried++
	}
	s.meter.spend(tried)
	return value
}

// after is the value of b just after a move, before a tile spawns, depth−1
// moves before the end of the search.
func (s *search64) after(b twenty48.Board64, depth int, prob float32) float32 {
	if s.goal > 0 && b.Has(s.goal) {
		return worthWon
	}
	if depth == 1 || prob < s.cutoff {
		return s.worths.board(b)
	}
	if value, ok := s.table.get(uint64(b), depth); ok {
		return value
	}
	empty := b.Empty()
	count := float32(empty.Count())
	prob /= count
	var two, four float32
	for ; empty != 0; empty &= empty - 1 {
		if s.meter.over {
			return 0
		}
		spawned := empty & -empty
		two += s.best(b|spawned, depth-1, prob*(1-s.four))
		if s.foursIn > 0 {
			four += s.best(b|spawned<<1, depth-1, prob*s.four)
		}
	}
	value := (two*(1-s.four) + four*s.four) / count
	s.table.put(uint64(b), depth, value)
	return value
}

// leaf is best one move before the end of the search.
func (s *search64) leaf(b twenty48.Board64) float32 {
	t := b.Transposed()
	var value float32
	tried := int64(0)
	if l := s.slider.Left(b); l != b {
		value = max(value, s.worths.rows(l)+s.worths.rows(l.Transposed()))
		tried++
	}
	if r := s.slider.Right(b); r != b {
		value = max(value, s.worths.rows(r)+s.worths.rows(r.Transposed()))
		tried++
	}
	if u := s.slider.Left(t); u != t {
		value = max(value, s.worths.rows(u)+s.worths.rows(u.Transposed()))
		tried++
	}
	if d := s.slider.Right(t); d != t {
		value = max(value, s.worths.rows(d)+s.worths.rows(d.Transposed()))
		tried++
	}
	s.meter.spend(tried)
	return value
}
