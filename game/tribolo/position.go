package tribolo

import (
	"fmt"

	"github.com/gridstand/gridstand/game"
)

// The cells of a start board. Each move fills exactly one empty cell, so the number of moves
// follows from the board.
const (
	startCells = 12 // per seat
	startWalls = 12
	startEmpty = Size - Seats*startCells - startWalls
)

// MaxMoves is the maximum number of moves in a game, which is the number of empty cells at its
// start.
const MaxMoves = startEmpty

// Position is a board of Tribolo, the seat to move, and the seats that have resigned. It is
// immutable; two positions are equal if these three are equal. Rules and NewPosition create
// positions. The zero Position is not valid.
type Position struct {
	board    Board
	turn     int // game.NoSeat if no seat can move
	resigned SeatSet

	// legal holds the moves of the seat to move, derived from the other fields.
	legal Set
}

var _ game.Position = (*Position)(nil)

// NewPosition creates a position from its parts, for tests and for programs that received a
// board from a server. The turn must be that of a seat that has a move and has not resigned, or
// game.NoSeat if there is no such seat. It returns an error for any other turn, and for a board
// whose numbers of walls and owned cells cannot occur in a game.
func NewPosition(b Board, turn int, resigned SeatSet) (*Position, error) {
	walls := b.Walls().Len()
	owned := Size - walls - b.empty.Len()
	switch {
	case walls != startWalls:
		return nil, fmt.Errorf("tribolo: %d walls, not %d", walls, startWalls)
	case owned < Seats*startCells:
		return nil, fmt.Errorf("tribolo: the seats own %d cells, fewer than the %d at the start", owned, Seats*startCells)
	case resigned&^allSeats != 0:
		return nil, fmt.Errorf("tribolo: unknown seats have resigned (%#b)", resigned)
	case turn != game.NoSeat && (turn < 0 || turn >= Seats):
		return nil, fmt.Errorf("tribolo: turn of unknown seat %d", turn)
	}
	p := &Position{board: b, turn: turn, resigned: resigned}
	if p.MoveCount() == 0 {
		for seat := range Seats {
			if n := b.Score(seat); n != startCells {
				return nil, fmt.Errorf("tribolo: %s owns %d cells before the first move, not %d", OwnerOf(seat), n, startCells)
			}
		}
	}
	if turn == game.NoSeat {
		if seat, _ := b.Next(0, resigned); seat != game.NoSeat {
			return nil, fmt.Errorf("tribolo: no turn, though %s can move", OwnerOf(seat))
		}
		return p, nil
	}
	if resigned.Has(turn) {
		return nil, fmt.Errorf("tribolo: turn of %s, who has resigned", OwnerOf(turn))
	}
	if p.legal = b.Moves(turn); p.legal.IsEmpty() {
		return nil, fmt.Errorf("tribolo: turn of %s, who has no move", OwnerOf(turn))
	}
	return p, nil
}

// Board returns a copy of the board, for looking ahead.
func (p *Position) Board() Board { return p.board }

// Cells returns the owners of all cells, row-major from the top left. The caller owns the
// slice.
func (p *Position) Cells() []Owner {
	cells := make([]Owner, Size) // all empty
	fill := func(s Set, owner Owner) {
		for q := range s.All() {
			c := q.Cell()
			cells[c.Y*Columns+c.X] = owner
		}
	}
	fill(p.board.Walls(), Wall)
	for seat := range Seats {
		fill(p.board.Owned(seat), OwnerOf(seat))
	}
	return cells
}

// Resigned returns the seats that have resigned.
func (p *Position) Resigned() SeatSet { return p.resigned }

// MoveCount implements game.Position.
func (p *Position) MoveCount() int32 { return int32(startEmpty - p.board.empty.Len()) }

// Scores implements game.Position: the number of cells that each seat owns, even if it has
// resigned.
func (p *Position) Scores() []int32 {
	scores := make([]int32, Seats)
	for seat := range scores {
		scores[seat] = int32(p.board.Score(seat))
	}
	return scores
}

// Turn implements game.Position.
func (p *Position) Turn() int { return p.turn }

// LegalMoves implements game.Position. The moves are ordered by x, then y.
func (p *Position) LegalMoves() []game.Move {
	if p.legal.IsEmpty() {
		return nil
	}
	moves := make([]game.Move, 0, p.legal.Len())
	for q := range p.legal.All() {
		moves = append(moves, game.To(q.Cell()))
	}
	return moves
}

// Taken returns the cells that the seat to move would jump over with m, ordered by x, then y,
// excluding the destination. It returns nil if m is not legal.
func (p *Position) Taken(m game.Move) []game.Cell {
	q, ok := SquareOf(m.Cell)
	if !ok || m.Direction != 0 || !p.legal.Has(q) {
		return nil
	}
	return cellsOf(p.board.Taken(p.turn, q))
}

// Ended implements game.Position: game.NoMoves if no seat can move.
func (p *Position) Ended() game.Reason {
	if p.turn == game.NoSeat {
		return game.NoMoves
	}
	return game.ReasonNone
}

// Winners implements game.Position. The winner is the seat with the most cells among those that
// have not resigned; seats that tie for the most all win. An abandoned game has no winner.
func (p *Position) Winners(r game.Reason) []int {
	if r == game.Abandoned {
		return nil
	}
	var winners []int
	most := -1
	for seat := range Seats {
		score := p.board.Score(seat)
		switch {
		case p.resigned.Has(seat) || score < most:
		case score == most:
			winners = append(winners, seat)
		default:
			winners, most = []int{seat}, score
		}
	}
	return winners
}

// passOn sets the turn to the seat that moves after mover.
func (p *Position) passOn(mover int) *Position {
	p.turn, p.legal = p.board.Next(mover, p.resigned)
	return p
}

func cellsOf(s Set) []game.Cell {
	cells := make([]game.Cell, 0, s.Len())
	for q := range s.All() {
		cells = append(cells, q.Cell())
	}
	return cells
}
