package bot

import (
	"fmt"

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
	s := originalSearch{meter: m, me: seat, resigned: own.Resigned(), worth: (*tribolo.Board).Score}
	free := b.Empty().Len() + b.Walls().Len()
	plies := originalPlies
	if b.Moves(seat).Len() < originalFew && free > originalLate {
		plies--
		s.worth = func(b *tribolo.Board, seat int) int { return b.Moves(seat).Len() }
	}
	var best tribolo.Square
	highest := -1
	for moves := b.Moves(seat); !moves.IsEmpty(); {
		to := moves.Pop()
		if value := s.after(b, seat, to, plies-1); value > highest {
			best, highest = to, value
		}
	}
	return jumpTo(best), nil
}

type originalSearch struct {
	meter    *meter
	me       int
	resigned tribolo.SeatSet
	worth    func(b *tribolo.Board, seat int) int
}

// after returns the value of b after seat moves to the given cell and up to plies more moves
// follow.
func (s *originalSearch) after(b tribolo.Board, seat int, to tribolo.Square, plies int) int {
	b.Play(seat, to)
	if s.meter.spend(1) || plies == 0 {
		return s.worth(&b, s.me)
	}
	next, moves := b.Next(seat, s.resigned)
	if next == game.NoSeat {
		return s.worth(&b, s.me)
	}
	best := s.after(b, next, moves.Pop(), plies-1)
	for !moves.IsEmpty() {
		value := s.after(b, next, moves.Pop(), plies-1)
		if next == s.me {
			best = max(best, value)
		} else {
			best = min(best, value)
		}
	}
	return best
}
