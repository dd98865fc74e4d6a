package tribolo_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/game"
	"github.com/gridstand/gridstand/game/internal/gametest"
	"github.com/gridstand/gridstand/game/tribolo"
)

var (
	countingSeed = gametest.CountingSeed
	seed         = gametest.Seed
	seedOf       = gametest.SeedOf
	bytesOf      = gametest.Bytes
)

func start(s game.Seed) *tribolo.Position {
	return tribolo.New().Start(s.Draws(1)).(*tribolo.Position)
}

func to(x, y int32) game.Move { return game.To(game.Cell{X: x, Y: y}) }

func cell(x, y int32) game.Cell { return game.Cell{X: x, Y: y} }

var owners = map[string]tribolo.Owner{
	".": tribolo.Empty, "#": tribolo.Wall, "B": tribolo.Blue, "R": tribolo.Red, "G": tribolo.Green,
}

// lane returns a board whose only empty cells are among the ten leftmost of the top row, which
// are as drawn. The twelve walls surround them. The remaining cells go to the owners in others,
// in rotation, which sets the scores.
func lane(t *testing.T, drawn, others string) tribolo.Board {
	t.Helper()
	row := strings.Fields(drawn)
	require.Len(t, row, 10)
	cells := make([]tribolo.Owner, tribolo.Size)
	rest := 0
	for i := range cells {
		x, y := i%tribolo.Columns, i/tribolo.Columns
		switch {
		case y == 0 && x < 10:
			cells[i] = owners[row[x]]
		case y <= 1 && x <= 10:
			cells[i] = tribolo.Wall
		default:
			cells[i] = owners[others[rest%len(others):][:1]]
			rest++
		}
	}
	b, err := tribolo.NewBoard(cells)
	require.NoError(t, err)
	return b
}

func position(t *testing.T, b tribolo.Board, turn int, resigned ...int) *tribolo.Position {
	t.Helper()
	var set tribolo.SeatSet
	for _, seat := range resigned {
		set = set.With(seat)
	}
	p, err := tribolo.NewPosition(b, turn, set)
	require.NoError(t, err)
	return p
}
