package bot

import (
	"fmt"
	"math"

	"github.com/gridstand/gridstand/game"
	"github.com/gridstand/gridstand/game/tribolo"
)

// ofTribolo returns the function that creates a chooser of Tribolo.
func ofTribolo(choose func(m *meter, p *tribolo.Position) tribolo.Square) func(game.Variant) chooser {
	return func(game.Variant) chooser {
		return func(m *meter, p game.Position) (game.Move, error) {
			own, ok := p.(*tribolo.Position)
			if !ok {
				return game.Move{}, fmt.Errorf("a %T is not a position of Tribolo", p)
			}
			return game.To(choose(m, own).Cell()), nil
		}
	}
}

// greedyTribolo makes the move that takes the most cells, breaking ties by the lowest x, then
// the lowest y.
func greedyTribolo(_ *meter, p *tribolo.Position) tribolo.Square {
	b, seat := p.Board(), p.Turn()
	var best tribolo.Square
	most := 0
	for moves := b.Moves(seat); !moves.IsEmpty(); {
		to := moves.Pop() // ordered by x, then y
		if n := b.Taken(seat, to).Len(); n > most {
			best, most = to, n
		}
	}
	return best
}

const (
	originalPlies = 3
	// If it has fewer than originalFew moves, original counts the moves that it will have
	// instead of its cells, as long as more than originalLate cells are empty or walls.
	originalFew  = 5
	originalLate = 20
)

// original plays like the ClojureScript version: minimax over three moves, assuming that all
// opponents try to take its cells. The value of a board is the number of cells that the bot
// owns. If the bot has few moves in the middle of the game, it looks only two moves ahead, and
// the value is the number of moves that it will have. (The original program's players also join
// forces against a human who is ahead.)
func original(m *meter, p *tribolo.Position) tribolo.Square {
	b, seat := p.Board(), p.Turn()
	moves, free, plies := b.Moves(seat), b.Empty().Len()+b.Walls().Len(), originalPlies
	worth := func(b *tribolo.Board) int { return b.Score(seat) }
	if moves.Len() < originalFew && free > originalLate {
		plies--
		worth = func(b *tribolo.Board) int { return b.Moves(seat).Len() }
	}
	s := jumpSearch{meter: m, me: seat, resigned: p.Resigned(), worth: worth, end: worth}
	var best tribolo.Square
	highest := -1
	for !moves.IsEmpty() {
		to, next := moves.Pop(), b
		next.Play(seat, to)
		value := s.after(0, &next, seat, plies-1, highest, math.MaxInt)
		if highest < 0 || value > highest && !m.over {
			best, highest = to, max(value, 0)
		}
	}
	return best
}
