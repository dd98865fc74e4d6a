package variants_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/game"
	"github.com/gridstand/gridstand/game/twenty48"
)

// maxMoves limits the number of recorded moves, because some games would not end.
const maxMoves = 3000

// playOn plays a game to be recorded, and returns its moves. It plays 2048 well until the goal is
// reached, so that the record contains large tiles, and badly from there on, so that the game ends.
// This is slow, so the moves are kept in the record instead of being computed by every test.
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

// goodMove looks two slides ahead, with a 2 spawning in each empty cell in between, and chooses
// the move whose boards have the best order on average.
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

// bestOrder returns the highest rating by inOrder of any board that one slide can produce.
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
	// The draws do not matter, because the spawned tile is removed again.
	next, change, err := r.Move(p, 0, m, countingSeed(t).Draws(1))
	require.NoError(t, err)
	return slid(next, change)
}

// inOrder rates a board. The rating is higher if more of the tiles' value is near the start of
// a path that winds from the top left through the rows, alternating in direction.
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
