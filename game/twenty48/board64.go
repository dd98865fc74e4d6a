package twenty48

import (
	"math/bits"
	"sync"

	"github.com/gridstand/gridstand/game"
)

// Board64 is a 4×4 board in one word, for search programs that try millions of moves. Each cell is
// a nibble, row-major from the low end, that holds the exponent of its tile, or 0 if it is empty.
//
// The largest nibble, 15, is a tile of 32,768. Two of these do not merge here, although the
// rules merge them. A board that already has one must therefore be played as a Grid:
// Position.Board64 refuses it.
type Board64 uint64

// Board64 returns the board in one word. It returns false if the board is not 4×4, or has a
// tile of 32,768 or more.
func (p *Position) Board64() (Board64, bool) {
	if p.rows != 4 || p.columns != 4 {
		return 0, false
	}
	var b Board64
	for i, e := range p.cells {
		if e >= 15 {
			return 0, false
		}
		b |= Board64(e) << (4 * i)
	}
	return b, true
}

// ones has a 1 in every nibble.
const ones Board64 = 0x1111_1111_1111_1111

// Empty returns the set of empty cells: the lowest bit of each empty cell's nibble is set.
func (b Board64) Empty() Board64 {
	taken := b | b>>1
	taken |= taken >> 2
	return ^taken & ones
}

// Count returns the number of cells in a set such as one returned by Empty.
func (b Board64) Count() int { return bits.OnesCount64(uint64(b)) }

// Has reports whether a tile with the given exponent, from 1 to 15, is on the board.
func (b Board64) Has(exponent uint8) bool {
	// A nibble that is 0 borrows when 1 is subtracted from it.
	x := b ^ ones*Board64(exponent)
	return (x-ones)&^x&(ones<<3) != 0
}

// Transposed returns the board with rows and columns swapped.
func (b Board64) Transposed() Board64 {
	// Swap the two nibbles off the diagonal of every 2×2 block, then the two blocks off the
	// diagonal.
	x := (b ^ b>>12) & 0x0000_F0F0_0000_F0F0
	b ^= x ^ x<<12
	x = (b ^ b>>24) & 0x0000_0000_FF00_FF00
	return b ^ x ^ x<<24
}

// Slider slides a Board64 by looking up its rows. It does not change after it is created, and
// is safe for concurrent use.
type Slider struct {
	rows [1 << 16]struct {
		left, right uint16 // the row after a slide
	}
}

// NewSlider returns the shared Slider, which has a quarter of a megabyte of tables. The first call
// creates it.
var NewSlider = sync.OnceValue(func() *Slider {
	s := new(Slider)
	for row := range 1 << 16 {
		r := &s.rows[row]
		r.left, r.right = slideRow(row, 0, 1), slideRow(row, 3, -1)
	}
	return s
})

// slideRow slides four nibbles as the rules do.
func slideRow(row, first, step int) (slid uint16) {
	cells := make([]uint8, 4)
	for i := range cells {
		cells[i] = uint8(row >> (4 * i) & 15)
		if cells[i] == 15 {
			cells[i] = MaxExponent // so that two of these do not merge
		}
	}
	slideLine(cells, first, step, len(cells))
	for i, e := range cells {
		slid |= uint16(min(e, 15)) << (4 * i)
	}
	return slid
}

// Left slides all tiles to the left. To slide a board up, transpose it, slide it left and
// transpose it back.
func (s *Slider) Left(b Board64) Board64 {
	return Board64(s.rows[uint16(b)].left) | Board64(s.rows[uint16(b>>16)].left)<<16 |
		Board64(s.rows[uint16(b>>32)].left)<<32 | Board64(s.rows[b>>48].left)<<48
}

// Right slides all tiles to the right. To slide a board down, transpose it, slide it right and
// transpose it back.
func (s *Slider) Right(b Board64) Board64 {
	return Board64(s.rows[uint16(b)].right) | Board64(s.rows[uint16(b>>16)].right)<<16 |
		Board64(s.rows[uint16(b>>32)].right)<<32 | Board64(s.rows[b>>48].right)<<48
}

// Slide slides all tiles in direction d.
func (s *Slider) Slide(b Board64, d game.Direction) Board64 {
	switch d {
	case game.Left:
		return s.Left(b)
	case game.Right:
		return s.Right(b)
	case game.Up:
		return s.Left(b.Transposed()).Transposed()
	default:
		return s.Right(b.Transposed()).Transposed()
	}
}
