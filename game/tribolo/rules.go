package tribolo

import (
	"fmt"
	"strconv"

	"github.com/gridstand/gridstand/game"
)

// Rules implements game.Rules for Tribolo. It has no state and is safe for concurrent use.
type Rules struct{}

var _ game.Rules = (*Rules)(nil)

// New returns the rules of Tribolo, which has only one variant.
func New() *Rules { return &Rules{} }

// Start implements game.Rules. It shuffles the cells, assigns the first ones to the seats in
// turn and then to the walls, and draws the first seat to move.
func (r *Rules) Start(d *game.Draws) game.Position {
	var cells [Size]Square // ordered by x, then y
	for i := range cells {
		cells[i] = Square(i/Rows*stride + i%Rows)
	}
	p := &Position{board: Board{empty: everywhere}}
	for i := range Size - startEmpty {
		j := i + d.Draw(Size-i)
		cells[i], cells[j] = cells[j], cells[i]
		here := bit(cells[i])
		p.board.empty = p.board.empty.without(here)
		if seat := i / startCells; seat < Seats {
			p.board.seats[seat] = p.board.seats[seat].or(here)
		}
	}
	first := d.Draw(Seats)
	return p.passOn(first + Seats - 1) // as if the seat before it had moved
}

// Move implements game.Rules. It makes all of seat's jumps to the cell simultaneously, and
// passes the turn to the next seat that has a move. It draws nothing. If it is not seat's turn,
// Move returns an error that wraps game.ErrIllegalMove. If from is a position of another game,
// it returns a different error.
func (r *Rules) Move(from game.Position, seat int, m game.Move, _ *game.Draws) (game.Position, game.Change, error) {
	p, ok := from.(*Position)
	if !ok {
		return nil, game.Change{}, fmt.Errorf("tribolo: a %T is not a position of Tribolo", from)
	}
	to, err := p.allows(seat, m)
	if err != nil {
		return nil, game.Change{}, err
	}
	taken := p.board.Taken(seat, to)
	next := &Position{board: p.board, resigned: p.resigned}
	next.board.give(seat, to, taken)
	return next.passOn(seat), game.Change{Gained: int32(taken.Len() + 1), Taken: cellsOf(taken)}, nil
}

// Resign implements game.Rules. After resigning, seat gets no more turns and cannot win. Its
// cells remain, count toward its score, and can be jumped over. If it is seat's turn, the turn
// passes to the next seat. Resigning twice changes nothing. from must be a Tribolo position,
// and seat must be from 0 to 2.
func (r *Rules) Resign(from game.Position, seat int) game.Position {
	p := *from.(*Position)
	p.resigned = p.resigned.With(seat)
	if p.turn == seat {
		p.passOn(seat)
	}
	return &p
}

// Recordable implements game.Rules. Only games that were played to the end are recordable.
func (r *Rules) Recordable(reason game.Reason) bool { return reason == game.NoMoves }

// allows returns the square of a move if it is legal for seat, or else an error that explains
// why it is not.
func (p *Position) allows(seat int, m game.Move) (Square, error) {
	switch {
	case p.turn == game.NoSeat:
		return 0, fmt.Errorf("%w: the game has ended, %s", game.ErrIllegalMove, p.Ended())
	case seat != p.turn && p.resigned.Has(seat):
		return 0, fmt.Errorf("%w: %s has resigned", game.ErrIllegalMove, OwnerOf(seat))
	case seat != p.turn:
		return 0, fmt.Errorf("%w: it is the turn of %s", game.ErrIllegalMove, OwnerOf(p.turn))
	case m.Direction != 0:
		return 0, fmt.Errorf("%w: Tribolo is played by naming the empty cell to jump to, not by sliding", game.ErrIllegalMove)
	}
	q, ok := SquareOf(m.Cell)
	if !ok {
		return 0, fmt.Errorf("%w: %d,%d is outside the board, whose columns are 0 to %d and rows 0 to %d",
			game.ErrIllegalMove, m.Cell.X, m.Cell.Y, Columns-1, Rows-1)
	}
	switch owner := p.board.Owner(q); {
	case owner == Wall:
		return 0, fmt.Errorf("%w: %s is a wall", game.ErrIllegalMove, name(m.Cell))
	case owner != Empty:
		return 0, fmt.Errorf("%w: %s is not empty, it belongs to %s", game.ErrIllegalMove, name(m.Cell), owner)
	case !p.legal.Has(q):
		return 0, fmt.Errorf("%w: %s has no jump to %s: no straight line of one opponent's cells "+
			"leads from there to a cell of %[2]s", game.ErrIllegalMove, OwnerOf(seat), name(m.Cell))
	}
	return q, nil
}

// name returns a cell as boards label it: the columns from 10 on are letters.
func name(c game.Cell) string { return fmt.Sprintf("%s,%d", strconv.FormatInt(int64(c.X), 36), c.Y) }
