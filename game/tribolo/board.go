package tribolo

import (
	"fmt"
	"strings"

	"github.com/gridstand/gridstand/game"
)

// Board holds the owners of the cells and implements the part of the rules that needs nothing else:
// jumps. It is designed for search programs: it takes 96 bytes, is copied by assignment and
// compared with ==, and only String allocates. Copies are independent, and reading is safe for
// concurrent use.
//
// Methods panic for seats other than 0 to 2. A Board comes from a Position or from NewBoard; on
// the zero Board every cell is a wall.
type Board struct {
	seats [Seats]Set // the cells of each seat
	empty Set        // the empty cells; cells in none of the four sets are walls
}

// NewBoard creates a board from the owners of its cells, row-major from the top left. It accepts
// boards that cannot occur in a game. It returns an error if the number of cells is wrong or a cell
// has an unknown owner.
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
			return Board{}, fmt.Errorf("tribolo: cell %d: %d is not an owner", i, o)
		}
	}
	return b, nil
}

// Owned returns the cells of seat.
func (b *Board) Owned(seat int) Set { return b.seats[seat] }

// Empty returns the empty cells.
func (b *Board) Empty() Set { return b.empty }

// Walls returns the cells that are walls.
func (b *Board) Walls() Set {
	return everywhere.without(b.empty).without(b.seats[0]).without(b.seats[1]).without(b.seats[2])
}

// Score returns the number of cells that seat owns.
func (b *Board) Score(seat int) int { return b.seats[seat].Len() }

// Owner returns the owner of the cell at q.
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

// Next returns the seat that moves after mover, and its moves. It considers the two seats after
// mover, in turn order, and then mover itself, and returns the first that has a move and has
// not resigned, or game.NoSeat if none of them does.
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

// Play moves seat to the given cell, and returns the number of cells taken, not counting the
// destination. The seat's score rises by one more than that. If the rules forbid the move, Play
// returns 0 and does not change the board.
func (b *Board) Play(seat int, to Square) int {
	taken := b.Taken(seat, to)
	if !taken.IsEmpty() {
		b.give(seat, to, taken)
	}
	return taken.Len()
}

// give makes seat the owner of an empty cell and of the cells taken by moving there.
func (b *Board) give(seat int, to Square, taken Set) {
	for other := range b.seats {
		b.seats[other] = b.seats[other].without(taken)
	}
	b.seats[seat] = b.seats[seat].or(taken).or(bit(to))
	b.empty = b.empty.without(bit(to))
}

// String draws the board in readable form: one line per row, with B, R and G for the cells of
// the seats, # for a wall and a dot for an empty cell.
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
