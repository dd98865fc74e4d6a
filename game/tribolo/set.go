package tribolo

import (
	"iter"
	"math/bits"

	"github.com/gridstand/gridstand/game"
)

// Square is the number of a cell on a Board, x*12 + y: columns are numbered from left to right, and
// the cells of each from top to bottom. Ascending order is therefore by x, then y.
//
// A column takes 12 numbers for its 11 cells. The twelfth is not a cell, so that a step off the
// top or the bottom of the board does not lead into the next column. A step off the sides leads
// to a number outside the range, which ends at 191.
type Square uint8

const (
	// stride is the difference between the squares of neighboring columns.
	stride = Rows + 1
	// squares is the number of squares, which is also the number of bits in three words.
	squares = Columns * stride
)

// SquareOf returns the square of c, and false if c is outside the board.
func SquareOf(c game.Cell) (Square, bool) {
	if c.X < 0 || c.X >= Columns || c.Y < 0 || c.Y >= Rows {
		return 0, false
	}
	return Square(c.X*stride + c.Y), true
}

// Cell returns the position of q on the board.
func (q Square) Cell() game.Cell {
	return game.Cell{X: int32(q / stride), Y: int32(q % stride)}
}

// Set is a set of squares, a small value that can be compared with ==. The zero Set is empty.
//
// It has three words instead of an array because the compiler would not keep an array in
// registers.
type Set struct{ lo, mid, hi uint64 } // squares from 0 to 63, 64 to 127, and 128 to 191

// everywhere is the set of all cells.
var everywhere = func() (all Set) {
	for x := range Columns {
		for y := range Rows {
			all = all.or(bit(Square(x*stride + y)))
		}
	}
	return all
}()

// bit returns the set that contains only q. It is empty for a number beyond the last square. A
// shift by 64 or more yields 0, which is right for the words that do not contain q; if q is
// below 64 or 128, the difference wraps around to such a shift.
func bit(q Square) Set { return Set{1 << q, 1 << (q - 64), 1 << (q - 128)} }

// Has reports whether q is in the set.
func (s Set) Has(q Square) bool {
	return (s.lo>>q|s.mid>>(q-64)|s.hi>>(q-128))&1 != 0
}

// Len returns the number of squares in the set.
func (s Set) Len() int {
	return bits.OnesCount64(s.lo) + bits.OnesCount64(s.mid) + bits.OnesCount64(s.hi)
}

// IsEmpty reports whether the set has no squares.
func (s Set) IsEmpty() bool { return s.lo|s.mid|s.hi == 0 }

// Pop removes the lowest square from the set, which must not be empty, and returns it.
func (s *Set) Pop() Square {
	word, first := &s.lo, 0
	switch {
	case s.lo != 0:
	case s.mid != 0:
		word, first = &s.mid, 64
	default:
		word, first = &s.hi, 128
	}
	q := first + bits.TrailingZeros64(*word)
	*word &= *word - 1
	return Square(q)
}

// All returns an iterator over the squares of the set in ascending order.
func (s Set) All() iter.Seq[Square] {
	return func(yield func(Square) bool) {
		for rest := s; !rest.IsEmpty(); {
			if !yield(rest.Pop()) {
				return
			}
		}
	}
}

func (s Set) or(t Set) Set      { return Set{s.lo | t.lo, s.mid | t.mid, s.hi | t.hi} }
func (s Set) and(t Set) Set     { return Set{s.lo & t.lo, s.mid & t.mid, s.hi & t.hi} }
func (s Set) without(t Set) Set { return Set{s.lo &^ t.lo, s.mid &^ t.mid, s.hi &^ t.hi} }

// up adds n, from 1 to 63, to every square of the set, and drops squares that leave the range.
func (s Set) up(n uint) Set {
	// The masks do not change the result; they let the compiler omit the check for shifts of 64
	// or more.
	return Set{s.lo << (n & 63), s.mid<<(n&63) | s.lo>>(-n&63), s.hi<<(n&63) | s.mid>>(-n&63)}
}

// down subtracts n, from 1 to 63, from every square of the set, and drops squares that leave
// the range.
func (s Set) down(n uint) Set {
	return Set{s.lo>>(n&63) | s.mid<<(-n&63), s.mid>>(n&63) | s.hi<<(-n&63), s.hi >> (n & 63)}
}
