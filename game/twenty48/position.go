package twenty48

import (
	"slices"

	"github.com/gridstand/gridstand/game"
)

// Position is a board of 2048 with its score and its number of moves. It is
// immutable, and two positions of the same rules that are equal in these three
// are equal in everything. Rules make it; the zero Position is none.
type Position struct {
	rows, columns int
	cells         []uint8 // exponents, row-major; never written after it is made
	score         int32
	moves         int32

	// The following is derived from the above and the rules when the position is
	// made, since nearly all callers need it.

	legal   Directions // none if the game has ended
	reached bool
	ended   game.Reason
}

var _ game.Position = (*Position)(nil)

// order is the fixed order in which legal moves are listed.
var order = [...]game.Direction{game.Up, game.Right, game.Down, game.Left}

// Rows is the number of rows of the board.
func (p *Position) Rows() int { return p.rows }

// Columns is the number of columns of the board.
func (p *Position) Columns() int { return p.columns }

// Tiles are the face values of the cells, row-major from the top left, 0 for
// an empty cell. The slice belongs to the caller.
func (p *Position) Tiles() []int32 {
	tiles := make([]int32, len(p.cells))
	for i, e := range p.cells {
		tiles[i] = faceOf(e)
	}
	return tiles
}

// Score is the points of all merges so far.
func (p *Position) Score() int32 { return p.score }

// GoalReached reports whether the goal's tile was made. It stays true after that tile
// merges.
func (p *Position) GoalReached() bool { return p.reached }

// MoveCount implements game.Position.
func (p *Position) MoveCount() int32 { return p.moves }

// Scores implements game.Position: one seat, one score.
func (p *Position) Scores() []int32 { return []int32{p.score} }

// Turn implements game.Position: seat 0 until the game has ended.
func (p *Position) Turn() int {
	if p.ended != game.ReasonNone {
		return game.NoSeat
	}
	return 0
}

// LegalMoves implements game.Position. The order is up, right, down, left.
func (p *Position) LegalMoves() []game.Move {
	var moves []game.Move
	for _, d := range order {
		if !p.legal.Has(d) {
			continue
		}
		if moves == nil {
			moves = make([]game.Move, 0, len(order))
		}
		moves = append(moves, game.Slide(d))
	}
	return moves
}

// Ended implements game.Position: game.GoalReached if the rules end the game at the goal
// and it was reached, game.NoMoves if there is no legal move.
func (p *Position) Ended() game.Reason { return p.ended }

// Winners implements game.Position. A game of 2048 is won if the goal was reached, for
// any reason that it ends.
func (p *Position) Winners(game.Reason) []int {
	if !p.reached {
		return nil
	}
	return []int{0}
}

// derive sets what follows from the cells, which must be set before.
func (p *Position) derive(c Config) *Position {
	p.reached = faceOf(slices.Max(p.cells)) >= c.Goal
	if p.reached && c.EndsAtGoal {
		p.ended = game.GoalReached
		return p
	}
	if c.IdleMoves && slices.Contains(p.cells, 0) {
		p.legal = allDirections
	} else {
		p.legal = changing(p.cells, p.columns)
	}
	if p.legal == 0 {
		p.ended = game.NoMoves
	}
	return p
}
