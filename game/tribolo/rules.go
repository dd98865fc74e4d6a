package tribolo

import (
	"fmt"

	"github.com/gridstand/gridstand/game"
)

// Rules are those of Tribolo. They hold no state and are safe for concurrent
// use.
type Rules struct{}

var _ game.Rules = (*Rules)(nil)

// New returns the rules of Tribolo, of which there is one version.
func New() *Rules { return &Rules{} }

// Start implements game.Rules: it shuffles the cells, gives the first ones to the seats
// in turn and to the walls, and draws the first seat to move.
func (r *Rules) Start(d *game.Draws) game.Position {
	var cells [Size]Square // x outermost
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

// Move implements game.Rules: it makes all jumps of seat to the cell at once, and passes
// the turn to the next seat that has a move. It draws nothing. It returns
// game.ErrIllegalMove also if seat is not to move, and another error for a position of
// other rules.
func (r *Rules) Move(from game.Position, seat int, m game.Move, _ *game.Draws) (game.Position, game.Change, error) {
	p, ok := from.(*Position)
	if !ok {
		return nil, game.Change{}, fmt.Errorf("tribolo: a %T is no position of Tribolo", from)
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

// Resign implements game.Rules: seat has no turn from now on and cannot win. Its cells
// stay, can be jumped over and are its score. If it is the turn of seat, the turn
// passes on. Resigning twice changes nothing. The position must be of Tribolo, and seat
// 0 to 2.
func (r *Rules) Resign(from game.Position, seat int) game.Position {
	p := *from.(*Position)
	p.resigned = p.resigned.With(seat)
	if p.turn == seat {
		p.passOn(seat)
	}
	return &p
}

// Recordable implements game.Rules: only games that were played to the end.
func (r *Rules) Recordable(reason game.Reason) bool { return reason == game.NoMoves }
