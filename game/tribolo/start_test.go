package tribolo_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/game"
	"github.com/gridstand/gridstand/game/tribolo"
)

// Ensure that start boards follow the rules, and that the first seat to move is drawn after the
// shuffle. TestVectors of internal/verify has a start board that another program computed.
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
		var g grid
		for i, c := range list[:48] {
			g[c.X][c.Y] = []tribolo.Owner{tribolo.Blue, tribolo.Red, tribolo.Green, tribolo.Wall}[i/12]
		}
		first := d.Draw(3)
		for len(g.moves(first)) == 0 {
			first = (first + 1) % 3
		}
		firsts[first]++

		used := s.Draws(1)
		p := tribolo.New().Start(used).(*tribolo.Position)
		require.Equal(t, g, *gridOf(p.Cells()), "seed %d", i)
		require.Equal(t, p.Board(), corner(t, strings.ReplaceAll(p.Board().String(), "\n", "/")))
		require.Equal(t, first, p.Turn(), "seed %d", i)
		require.Equal(t, d.Draw(1<<30), used.Draw(1<<30), "not the same number of draws")
	}
	assert.Len(t, firsts, 3)
}
