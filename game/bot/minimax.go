package bot

import (
	"math"
	"slices"
	"sync"

	"github.com/gridstand/gridstand/game"
	"github.com/gridstand/gridstand/game/tribolo"
)

// minimax plays Tribolo by alpha-beta search, one move deeper at a time. It assumes
// that both others play against it ("paranoid" search), which allows a deeper search
// than if each plays for itself.
type minimax struct {
	depth int // moves to look ahead at most

	// free is set if the options bound neither depth nor work: the default work
	// bounds the search.
	free bool
}

// defaultWorkJump is the work for a decision if the options bound neither depth nor
// work: about ten milliseconds, and five moves ahead.
const defaultWorkJump = 50_000

// The worth of a board on which the game goes on, for each cell and each legal move
// more than the best opponent has. Moves count because a seat without moves can only
// lose cells.
const (
	worthCell = 2
	worthMove = 3

	// worthEnd is the worth of a win, more than that of any other board.
	worthEnd = 1_000_000
)

func newMinimax(_ game.Variant, o Options) (chooser, error) {
	mm := minimax{depth: tribolo.MaxMoves, free: o.Depth == 0 && o.Work == 0}
	if o.Depth > 0 {
		mm.depth = o.Depth
	}
	return mm, nil
}

func (mm minimax) choose(m *meter, p game.Position) (game.Move, error) {
	own, err := ownTribolo(p)
	if err != nil {
		return game.Move{}, err
	}
	if mm.free {
		m.limit = defaultWorkJump
	}
	s := jumpSearches.Get().(*jumpSearch)
	defer jumpSearches.Put(s)
	s.meter, s.me, s.resigned = m, own.Turn(), own.Resigned()
	root := own.Board()
	moves := s.expand(0, &root, s.me, root.Moves(s.me))
	if len(moves.order) == 1 {
		return jumpTo(moves.jumps[0].to), nil
	}
	for depth := 1; depth <= min(mm.depth, root.Empty().Len()) && !m.over; depth++ {
		s.rank(moves, depth)
	}
	return jumpTo(moves.first().to), nil
}

// jumpSearch is a search of minimax.
type jumpSearch struct {
	meter    *meter
	me       int
	resigned tribolo.SeatSet
	plies    []*jumpList // the moves at each step on the way from the root
}

// jumpSearches reuses the searches with their lists.
var jumpSearches = sync.Pool{New: func() any { return new(jumpSearch) }}

// jumpList are moves and the boards after them.
type jumpList struct {
	jumps []jump
	order []int32 // indices of jumps in the low byte, the sort key above it
}

type jump struct {
	to    tribolo.Square
	board tribolo.Board
}

func (l *jumpList) at(i int) *jump { return &l.jumps[l.order[i]&0xff] }

func (l *jumpList) first() *jump { return l.at(0) }

// expand lists the moves of seat, those that take most cells first.
func (s *jumpSearch) expand(ply int, b *tribolo.Board, seat int, moves tribolo.Set) *jumpList {
	if ply == len(s.plies) {
		s.plies = append(s.plies, new(jumpList))
	}
	l := s.plies[ply]
	l.jumps, l.order = l.jumps[:0], l.order[:0]
	for !moves.IsEmpty() {
		i := len(l.jumps)
		l.jumps = append(l.jumps, jump{moves.Pop(), *b})
		taken := l.jumps[i].board.Play(seat, l.jumps[i].to)
		l.order = append(l.order, int32(-taken<<8|i))
		if s.meter.spend(1) {
			break
		}
	}
	slices.Sort(l.order)
	return l
}

// rank moves the best of the moves at the root to the front. If the work ends early,
// the result is still valid: the first move is the best one of the previous search,
// and only a better one takes its place.
func (s *jumpSearch) rank(moves *jumpList, depth int) {
	alpha := math.MinInt
	for i := range moves.order {
		value := s.after(1, &moves.at(i).board, s.me, depth-1, alpha, math.MaxInt)
		if s.meter.over {
			return
		}
		if value > alpha {
			alpha = value
			found := moves.order[i]
			copy(moves.order[1:i+1], moves.order[:i])
			moves.order[0] = found
		}
	}
}

// after is the value of b after a move of mover, looking depth more moves ahead. It is
// meaningless if the meter's work is done.
func (s *jumpSearch) after(ply int, b *tribolo.Board, mover, depth, alpha, beta int) int {
	if depth == 0 {
		return s.worth(b)
	}
	seat, moves := b.Next(mover, s.resigned)
	if seat == game.NoSeat {
		return s.end(b)
	}
	list := s.expand(ply, b, seat, moves)
	for i := range list.order {
		if s.meter.over || alpha >= beta {
			break
		}
		value := s.after(ply+1, &list.at(i).board, seat, depth-1, alpha, beta)
		if seat == s.me {
			alpha = max(alpha, value)
		} else {
			beta = min(beta, value)
		}
	}
	if seat == s.me {
		return alpha
	}
	return beta
}

// margin is the score minus the best opponent's score.
func (s *jumpSearch) margin(score func(seat int) int) int {
	rival := math.MinInt
	for i := 1; i < tribolo.Seats; i++ {
		if seat := (s.me + i) % tribolo.Seats; !s.resigned.Has(seat) {
			rival = max(rival, score(seat))
		}
	}
	return score(s.me) - rival
}

// worth judges a board on which the game may go on.
func (s *jumpSearch) worth(b *tribolo.Board) int {
	over := true
	moves := s.margin(func(seat int) int {
		n := b.Moves(seat).Len()
		over = over && n == 0
		return n
	})
	if over {
		return s.end(b)
	}
	return worthCell*s.margin(b.Score) + worthMove*moves
}

// end is the worth of a board on which no seat can move: a win is worth more than a
// shared win, and that more than a loss.
func (s *jumpSearch) end(b *tribolo.Board) int {
	cells := s.margin(b.Score)
	switch {
	case cells > 0:
		return worthEnd + cells
	case cells < 0:
		return cells - worthEnd
	default:
		return worthEnd / 2
	}
}
