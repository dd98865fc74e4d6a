package variants_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/game"
	"github.com/gridstand/gridstand/game/twenty48"
)

// maxMoves ends a record of a game that would not.
const maxMoves = 3000

// playOn plays a game for the record and returns its moves. 2048 is played
// well until the goal is reached, so that the record has large tiles in it, and
// badly from there, so that it has an end. It takes a while, which is why the
// moves are kept in the record and not found again by every test.
func playOn(t *testing.T, v game.Variant, s game.Seed) []string {
	t.Helper()
	var names []string
	p := v.Rules.Start(s.Draws(1))
	for p.Turn() != game.NoSeat && len(names) < maxMoves {
		m := p.LegalMoves()[0]
		if board, ok := p.(*twenty48.Position); ok && !board.GoalReached() {
			m = goodMove(t, v.Rules.(*twenty48.Rules), board)
		}
		names = append(names, notation(m))
		var err error
		p, _, err = v.Rules.Move(p, p.Turn(), m, s.Draws(int32(len(names)+1)))
		require.NoError(t, err)
	}
	return names
}

// goodMove looks two slides ahead, with a 2 spawning in each empty cell in
// between, for the boards that are best in order on average.
func goodMove(t *testing.T, r *twenty48.Rules, p *twenty48.Position) game.Move {
	t.Helper()
	var best game.Move
	highest := int64(-1)
	for _, m := range p.LegalMoves() {
		faces := afterSlide(t, r, p, m)
		cells := empties(faces)
		var total int64
		for _, cell := range cells {
			faces[cell] = 2
			total += bestOrder(t, r, faces)
			faces[cell] = 0
		}
		if mean := total / int64(len(cells)); mean > highest {
			highest, best = mean, m
		}
	}
	return best
}

// bestOrder is the best that one slide can make of a board.
func bestOrder(t *testing.T, r *twenty48.Rules, faces []int32) int64 {
	t.Helper()
	p, err := r.Position(faces, 0, 0)
	require.NoError(t, err)
	if p.GoalReached() {
		return inOrder(faces, p.Columns())
	}
	var highest int64
	for _, m := range p.LegalMoves() {
		highest = max(highest, inOrder(afterSlide(t, r, p, m), p.Columns()))
	}
	return highest
}

// afterSlide returns the board after m, before a tile spawns.
func afterSlide(t *testing.T, r *twenty48.Rules, p *twenty48.Position, m game.Move) []int32 {
	t.Helper()
	// It does not matter what these draw, as it is taken off again.
	next, change, err := r.Move(p, 0, m, countingSeed(t).Draws(1))
	require.NoError(t, err)
	return slid(next, change)
}

// inOrder is the higher, the more of the tiles' value lies early on a path that
// winds through the board from the top left, row by row, there and back.
func inOrder(board []int32, columns int) int64 {
	var sum int64
	for i, face := range board {
		row, column := i/columns, i%columns
		if row%2 == 1 {
			column = columns - 1 - column
		}
		sum += int64(face) << (len(board) - 1 - row*columns - column)
	}
	return sum
}
