package twenty48

import (
	"math/bits"
	"slices"

	"github.com/gridstand/gridstand/game"
)

// Position is a board of 2048 with its score and its number of moves. It is immutable; two
// positions are equal if they belong to the same rules and have the same values of these three.
// Rules create positions. The zero Position is not valid.
type Position struct {
	rows, columns int
	cells         []uint8 // exponents, row-major; never modified
	score         int32
	moves         int32

	// The following fields are derived from the ones above and the rules when the position is
	// created, because nearly all callers need them.

	legal   Directions // empty if the game has ended
	reached bool
	ended   game.Reason
}

var _ game.Position = (*Position)(nil)

// order is the fixed order in which legal moves are listed.
var order = [...]game.Direction{game.Up, game.Right, game.Down, game.Left}

// Tiles returns the face values of the cells, row-major from the top left, with 0 for an empty
// cell. The caller owns the slice.
func (p *Position) Tiles() []int32 {
	tiles := make([]int32, len(p.cells))
	for i, e := range p.cells {
		tiles[i] = faceOf(e)
	}
	return tiles
}

// GoalReached reports whether the goal tile has been reached. It stays true after that tile merges.
func (p *Position) GoalReached() bool { return p.reached }

// MoveCount implements game.Position.
func (p *Position) MoveCount() int32 { return p.moves }

// Scores implements game.Position. There is one seat, so there is one score: the points of all merges so far.
func (p *Position) Scores() []int32 { return []int32{p.score} }

// Turn implements game.Position. It returns seat 0 until the game has ended.
func (p *Position) Turn() int {
	if p.ended != game.ReasonNone {
		return game.NoSeat
	}
	return 0
}

// LegalMoves implements game.Position. The order is up, right, down, left.
func (p *Position) LegalMoves() []game.Move {
	moves := slices.Grow([]game.Move(nil), bits.OnesCount8(uint8(p.legal)))
	for _, d := range order {
		if p.legal.Has(d) {
			moves = append(moves, game.Slide(d))
		}
	}
	return moves
}

// Ended implements game.Position. It returns game.GoalReached if the rules end the game at the
// goal and the goal was reached, and game.NoMoves if there is no legal move.
func (p *Position) Ended() game.Reason { return p.ended }

// Winners implements game.Position. A game of 2048 is won if the goal was reached, no matter why it
// ended.
func (p *Position) Winners(game.Reason) []int {
	if !p.reached {
		return nil
	}
	return []int{0}
}

// derive sets the derived fields. The cells must already be set.
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
