package tribolo_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/game"
	"github.com/gridstand/gridstand/game/tribolo"
	"github.com/gridstand/gridstand/game/tribolo/tribolotest"
)

// startBoard is the start board of the counting seed, computed by another program.
const startBoard = `. . . . R . G . . . G B # . . #
B . . . . . . . . . . # R G R .
. . . . . # R . . R . R G . . .
. . . . # . . G . . . G B . . .
# . . . B . . . . # . . . . . .
G B B . . . B . . . . . . # . .
. . # . . . . . . R R . . G . .
. R . R . . . . . . . . . . . .
. . G B . # . . B . . . . . . .
. . R G . . . B . . . B R . . #
. . . . . . . B G G . . . . # .
`

func TestStart_CountingSeed(t *testing.T) {
	t.Parallel()
	p := start(countingSeed())
	assert.Equal(t, startBoard, p.Board().String())
	for _, c := range []game.Cell{{X: 4, Y: 4}, {X: 7, Y: 10}, {X: 11, Y: 0}} {
		assert.Equal(t, tribolo.Blue, p.Cells()[c.Y*tribolo.Columns+c.X])
	}
	for _, c := range []game.Cell{{X: 11, Y: 1}, {X: 0, Y: 4}, {X: 15, Y: 0}} {
		assert.Equal(t, tribolo.Wall, p.Cells()[c.Y*tribolo.Columns+c.X])
	}
	assert.Equal(t, 0, p.Turn())
	assert.Equal(t, []int32{12, 12, 12}, p.Scores())
	assert.Zero(t, p.MoveCount())
	assert.Zero(t, p.Resigned())
	assert.Equal(t, game.ReasonNone, p.Ended())
	assert.Equal(t, []game.Move{
		to(1, 8), to(1, 10), to(3, 6), to(3, 10), to(9, 0), to(10, 1), to(10, 3), to(10, 10), to(13, 2), to(13, 9),
	}, p.LegalMoves())
	assert.Equal(t, []game.Cell{{X: 2, Y: 8}}, p.Taken(to(1, 8)))
	assert.Equal(t, []game.Cell{{X: 8, Y: 10}, {X: 9, Y: 10}}, p.Taken(to(10, 10)))
}

// Ensure that the start boards of other seeds also follow the rules, and that the first seat to
// move is drawn after the shuffle.
func TestStart_SeededShuffle(t *testing.T) {
	t.Parallel()
	firsts := map[int]int{}
	for i := range 256 {
		s := seed(byte(i))
		d := s.Draws(1)
		var list []game.Cell
		for x := range int32(tribolo.Columns) {
			for y := range int32(tribolo.Rows) {
				list = append(list, cell(x, y))
			}
		}
		for i := range 48 {
			j := i + d.Draw(176-i)
			list[i], list[j] = list[j], list[i]
		}
		var g tribolotest.Grid
		for i, c := range list[:48] {
			g[c.X][c.Y] = []tribolo.Owner{tribolo.Blue, tribolo.Red, tribolo.Green, tribolo.Wall}[i/12]
		}
		first := d.Draw(3)
		for len(g.Moves(first)) == 0 {
			first = (first + 1) % 3
		}
		firsts[first]++

		used := s.Draws(1)
		p := tribolo.New().Start(used).(*tribolo.Position)
		require.Equal(t, g, *gridOf(p.Cells()), "seed %d", i)
		require.Equal(t, first, p.Turn(), "seed %d", i)
		require.Equal(t, d.Draw(1<<30), used.Draw(1<<30), "not the same number of draws")
	}
	assert.Len(t, firsts, 3)
}
