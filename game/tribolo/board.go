package tribolo

import (
	"fmt"
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
