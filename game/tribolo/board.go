package tribolo

import (
	"fmt"
	"math/bits"
	"strings"

	"github.com/gridstand/gridstand/game"
)

// Board is what lies on the cells, and the part of the rules that looks at
// nothing else: jumps. It is made for programs that look far ahead: 96 bytes
// that are copied by assignment and compared with ==, and no method but String
// allocates. Copies are independent, and reading is safe for concurrent use.
//
// Seats are 0 to 2 here; others panic. A Board comes from a Position or from
// NewBoard; on the zero Board every cell is a wall.
type Board struct {
	seats [Seats]Set // what each seat owns
	empty Set        // what nobody owns yet; the cells in none of the four are walls
}

// NewBoard makes a board from what lies on its cells, row-major from the top
// left. It takes any such board, also one that no game leads to. The error says
// how many cells are missing, or which is none of the five owners.
func NewBoard(cells []Owner) (Board, error) {
	if len(cells) != Size {
		return Board{}, fmt.Errorf("tribolo: %d cells, not %d", len(cells), Size)
	}
	var b Board
	for i, o := range cells {
		here := bit(Square(i%Columns*stride + i/Columns))
		switch o {
		case Empty:
			b.empty = b.empty.or(here)
		case Wall:
		case Blue, Red, Green:
			b.seats[o.Seat()] = b.seats[o.Seat()].or(here)
		default:
			return Board{}, fmt.Errorf("tribolo: cell %d: %d is no owner", i, o)
		}
	}
	return b, nil
}

// Owned are the cells of seat.
func (b *Board) Owned(seat int) Set { return b.seats[seat] }

// Empty are the cells that a jump could still go to.
func (b *Board) Empty() Set { return b.empty }

// Walls are the cells that are walls.
func (b *Board) Walls() Set {
	return everywhere.without(b.empty).without(b.seats[0]).without(b.seats[1]).without(b.seats[2])
}

// Score is the number of cells that seat owns.
func (b *Board) Score(seat int) int { return b.seats[seat].Len() }

// Owner says what lies on the cell at q.
func (b *Board) Owner(q Square) Owner {
	for seat := range b.seats {
		if b.seats[seat].Has(q) {
			return OwnerOf(seat)
		}
	}
	if b.empty.Has(q) {
		return Empty
	}
	return Wall
}

// Next returns the seat that moves after mover did, and its moves: the first of
// the seat after him, the one after that and the mover himself that has a move
// and has not resigned. When there is none it returns game.NoSeat.
func (b *Board) Next(mover int, resigned SeatSet) (seat int, moves Set) {
	for i := 1; i <= Seats; i++ {
		seat = (mover + i) % Seats
		if resigned.Has(seat) {
			continue
		}
		if moves = b.Moves(seat); !moves.IsEmpty() {
			return seat, moves
		}
	}
	return game.NoSeat, Set{}
}

// Play makes the move of seat to the cell at to, and returns how many cells it
// took, the destination not counted: the score of seat rises by one more. Where
// the rules forbid the move it returns 0 and leaves the board as it is.
func (b *Board) Play(seat int, to Square) int {
	taken := b.Taken(seat, to)
	if !taken.IsEmpty() {
		b.give(seat, to, taken)
	}
	return taken.Len()
}

// give makes an empty cell, and what was taken by going there, seat's.
func (b *Board) give(seat int, to Square, taken Set) {
	for other := range b.seats {
		b.seats[other] = b.seats[other].without(taken)
	}
	b.seats[seat] = b.seats[seat].or(taken).or(bit(to))
	b.empty = b.empty.without(bit(to))
}

// Hash mixes the board to 64 bits, any of which can index a table. Equal boards
// have equal hashes, but only within one release: keep none. Whose turn it is
// and who has resigned is not in it.
func (b *Board) Hash() uint64 {
	// The words in pairs as in wyhash: xored with numbers that show no pattern
	// (the fractions of the square roots of the first twelve primes), multiplied
	// to 128 bits, and both halves folded into one.
	blue, red, green, empty := b.seats[0], b.seats[1], b.seats[2], b.empty
	return fold(blue.lo^0x6a09e667f3bcc908, blue.mid^0xbb67ae8584caa73b) +
		fold(blue.hi^0x3c6ef372fe94f82b, red.lo^0xa54ff53a5f1d36f1) +
		fold(red.mid^0x510e527fade682d1, red.hi^0x9b05688c2b3e6c1f) +
		fold(green.lo^0x1f83d9abfb41bd6b, green.mid^0x5be0cd19137e2179) +
		fold(green.hi^0xcbbb9d5dc1059ed8, empty.lo^0x629a292a367cd507) +
		fold(empty.mid^0x9159015a3070dd17, empty.hi^0x152fecd8f70e5939)
}

func fold(x, y uint64) uint64 {
	hi, lo := bits.Mul64(x, y)
	return hi ^ lo
}

// String draws the board for people: a line for each row, B, R and G for the
// cells of the seats, # for a wall and a dot for an empty cell.
func (b Board) String() string {
	var s strings.Builder
	for y := range Rows {
		for x := range Columns {
			if x > 0 {
				s.WriteByte(' ')
			}
			s.WriteByte(".#BRG"[b.Owner(Square(x*stride+y))])
		}
		s.WriteByte('\n')
	}
	return s.String()
}
