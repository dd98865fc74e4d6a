package twenty48_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gridstand/gridstand/game"
	"github.com/gridstand/gridstand/game/twenty48"
)

// symmetry maps each cell and each direction of the board to another. Two symmetries generate
// all eight: the left-right mirror image, and the reflection across the diagonal, which swaps
// rows and columns.
type symmetry struct {
	name      string
	diagonal  bool
	direction map[game.Direction]game.Direction
}

var symmetries = []symmetry{
	{"left-right", false, map[game.Direction]game.Direction{
		game.Up: game.Up, game.Down: game.Down, game.Left: game.Right, game.Right: game.Left,
	}},
	{"diagonal", true, map[game.Direction]game.Direction{
		game.Up: game.Left, game.Left: game.Up, game.Down: game.Right, game.Right: game.Down,
	}},
}

func (s symmetry) board(board []int32, rows, columns int) []int32 {
	image := make([]int32, len(board))
	for i, face := range board {
		y, x := i/columns, i%columns
		if s.diagonal {
			image[x*rows+y] = face
		} else {
			image[y*columns+columns-1-x] = face
		}
	}
	return image
}

// TestProperty_Symmetry checks that reflecting both the board and the direction of a move reflects
// the result.
func TestProperty_Symmetry(t *testing.T) {
	t.Parallel()
	for _, s := range symmetries {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			rapid.Check(t, func(t *rapid.T) {
				r, p := anyPosition(t)
				c := r.Config()
				if s.diagonal {
					c.Rows, c.Columns = c.Columns, c.Rows
				}
				imageRules := twenty48.New(c)
				image, err := imageRules.Position(s.board(p.Tiles(), p.Rows(), p.Columns()), p.Score(), p.MoveCount())
				require.NoError(t, err)
				require.Equal(t, p.Ended(), image.Ended())
				require.Equal(t, p.GoalReached(), image.GoalReached())
				require.Len(t, image.LegalMoves(), len(p.LegalMoves()))
				for _, m := range p.LegalMoves() {
					next, change, err := r.Move(p, 0, m, seed(1).Draws(2))
					require.NoError(t, err)
					imageNext, imageChange, err := imageRules.Move(image, 0, game.Slide(s.direction[m.Direction]), seed(1).Draws(2))
					require.NoError(t, err)
					require.Equal(t, change.Gained, imageChange.Gained)
					require.Equal(t, s.board(beforeSpawn(next, change), p.Rows(), p.Columns()), beforeSpawn(imageNext, imageChange))
				}
			})
		})
	}
}
