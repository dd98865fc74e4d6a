package bot

import (
	"fmt"
	"math"

	"github.com/gridstand/gridstand/game"
	"github.com/gridstand/gridstand/game/tribolo"
)

// ownTribolo returns p as a Tribolo position.
func ownTribolo(p game.Position) (*tribolo.Position, error) {
	own, ok := p.(*tribolo.Position)
	if !ok {
		return nil, fmt.Errorf("a %T is not a position of Tribolo", p)
	}
	return own, nil
}

func jumpTo(q tribolo.Square) game.Move { return game.To(q.Cell()) }

// greedyTribolo makes the move that takes the most cells, breaking ties by the lowest x, then
// the lowest y.
type greedyTribolo struct{}

func newGreedyTribolo(game.Variant, Options) (chooser, error) { return greedyTribolo{}, nil }

func (greedyTribolo) choose(_ *meter, p game.Position) (game.Move, error) {
	own, err := ownTribolo(p)
	if err != nil {
		return game.Move{}, err
	}
	b, seat := own.Board(), own.Turn()
	var best tribolo.Square
	most := 0
	for moves := b.Moves(seat); !moves.IsEmpty(); {
		to := moves.Pop() // ordered by x, then y
		if n := b.Taken(seat, to).Len(); n > most {
			best, most = to, n
		}
	}
	return jumpTo(best), nil
}

// original plays like the ClojureScript version: minimax over three moves, assuming that all
// opponents try to take its cells. The value of a board is the number of cells that the bot
// owns. If the bot has few moves in the middle of the game, it looks only two moves ahead, and
// the value is the number of moves that it will have. (The original program's players also join
// forces against a human who is ahead.)
type original struct{}

const (
	originalPlies = 3
	// If it has fewer than originalFew moves, original counts the moves that it will have
	// instead of its cells, as long as more than originalLate cells are empty or walls.
	originalFew  = 5
	originalLate = 20
)

func newOriginal(game.Variant, Options) (chooser, error) { return original{}, nil }

func (original) choose(m *meter, p game.Position) (game.Move, error) {
	own, err := ownTribolo(p)
	if err != nil {
		return game.Move{}, err
	}
	b, seat := own.Board(), own.Turn()
	moves, free, plies := b.Moves(seat), b.Empty().Len()+b.Walls().Len(), originalPlies
	worth := func(b *tribolo.Board) int { return b.Score(seat) }
	if moves.Len() < originalFew && free > originalLate {
		plies--
		worth = func(b *tribolo.Board) int { return b.Moves(seat).Len() }
	}
	s := jumpSearch{meter: m, me: seat, resigned: own.Resigned(), worth: worth, end: worth}
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
	return jumpTo(best), nil
}
