package bot

import (
	"cmp"
	"math"
	"slices"
	"sync"

	"github.com/gridstand/gridstand/game"
	"github.com/gridstand/gridstand/game/tribolo"
)

// defaultWorkJump is the work limit of a decision if the options limit neither depth nor work.
// It allows about 10 ms and five moves ahead.
const defaultWorkJump = 50_000

// These weights rate a board on which the game continues: points for each cell and each legal move
// that the bot has over its best opponent. Moves count because a seat without moves can only lose
// cells.
const (
	worthCell = 2
	worthMove = 3

	// worthEnd is the value of a win, which is higher than that of any other board.
	worthEnd = 1_000_000
)

// minimax plays Tribolo by alpha-beta search with iterative deepening. It assumes that both
// opponents cooperate against the bot ("paranoid" search), which allows a deeper search than if
// each opponent played for itself.
func minimax(m *meter, p *tribolo.Position) tribolo.Square {
	m.bound(defaultWorkJump)
	s := jumpSearches.Get().(*jumpSearch)
	defer jumpSearches.Put(s)
	s.meter, s.me, s.resigned = m, p.Turn(), p.Resigned()
	s.worth, s.end = s.advantage, s.outcome
	root := p.Board()
	moves := s.expand(0, &root, s.me, root.Moves(s.me))
	deepest := min(cmp.Or(m.Depth, tribolo.MaxMoves), root.Empty().Len())
	for depth := 1; depth <= deepest && len(moves.order) > 1 && !m.over; depth++ {
		s.rank(moves, depth)
	}
	return moves.at(0).to
}

// jumpSearch is the state of one search.
type jumpSearch struct {
	meter    *meter
	me       int
	resigned tribolo.SeatSet
	// worth rates a board on which the game may continue, and end one on which no seat can move.
	worth, end func(b *tribolo.Board) int
	plies      []*jumpList // the moves at each step from the root
}

// jumpSearches is a pool of searches and their lists.
var jumpSearches = sync.Pool{New: func() any { return new(jumpSearch) }}

// jumpList holds moves and the boards that they lead to.
type jumpList struct {
	jumps []jump
	order []int32 // indices of jumps in the low byte, the sort key above it
}

type jump struct {
	to    tribolo.Square
	board tribolo.Board
}

func (l *jumpList) at(i int) *jump { return &l.jumps[l.order[i]&0xff] }

// expand lists seat's moves, starting with those that take the most cells.
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

// rank moves the best of the root's moves to the front. If the work runs out, the result
// is still valid: the first move is the best one of the previous search unless a better one was
// found.
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

// after returns the value of b after a move by mover, looking depth more moves ahead. The
// result is meaningless once the meter's work limit is reached.
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

// margin returns the bot's score minus the best opponent's score.
func (s *jumpSearch) margin(score func(seat int) int) int {
	rival := math.MinInt
	for i := 1; i < tribolo.Seats; i++ {
		if seat := (s.me + i) % tribolo.Seats; !s.resigned.Has(seat) {
			rival = max(rival, score(seat))
		}
	}
	return score(s.me) - rival
}

// advantage is the worth of a board for minimax.
func (s *jumpSearch) advantage(b *tribolo.Board) int {
	over := true
	moves := s.margin(func(seat int) int {
		n := b.Moves(seat).Len()
		over = over && n == 0
		return n
	})
	if over {
		return s.outcome(b)
	}
	return worthCell*s.margin(b.Score) + worthMove*moves
}

// outcome is the value of an end for minimax. A win is worth more than a shared win, which is worth more
// than a loss.
func (s *jumpSearch) outcome(b *tribolo.Board) int {
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
