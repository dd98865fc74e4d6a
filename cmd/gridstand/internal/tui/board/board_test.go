package board_test

import (
	"slices"
	"strings"
	"testing"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/ansi"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/board"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/style"
	"github.com/gridstand/gridstand/game"
	"github.com/gridstand/gridstand/game/twenty48"
	"github.com/gridstand/gridstand/game/variants"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

const (
	left  = pb.Direction_DIRECTION_LEFT
	right = pb.Direction_DIRECTION_RIGHT
)

// Ensure that, throughout a game, the tiles marked by MergedBy add up to the points gained
// by the move.
func TestMarkedMerges(t *testing.T) {
	t.Parallel()
	v, ok := variants.Current("classic")
	require.True(t, ok)
	seed, err := game.SeedFromBytes(make([]byte, game.SeedSize))
	require.NoError(t, err)
	p := v.Rules.Start(seed.Draws(1))
	moved := 0
	for version := int32(2); len(p.LegalMoves()) > 0; version++ {
		legal := p.LegalMoves()
		m := legal[int(version)%len(legal)]
		before := &pb.Twenty48Board{Rows: 4, Columns: 4, Tiles: p.(*twenty48.Position).Tiles()}
		next, change, err := v.Rules.Move(p, 0, m, seed.Draws(version))
		require.NoError(t, err)
		sum := int32(0)
		cells := board.MergedBy(before, pb.Direction(m.Direction))
		for _, cell := range cells {
			sum += next.(*twenty48.Position).Tiles()[cell]
		}
		require.Equal(t, change.Gained, sum, "%v of %v marks %v", m, before.GetTiles(), cells)
		p, moved = next, moved+1
	}
	assert.Greater(t, moved, 50)
}

// Ensure that each tile merges only once per move in lines with several equal tiles.
func TestMerge_Once(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		line []int32
		d    pb.Direction
		want []int
	}{
		{[]int32{2, 2, 2, 0}, left, []int{0}},
		{[]int32{2, 2, 2, 2}, left, []int{0, 1}},
		{[]int32{4, 2, 2, 0}, left, []int{1}},
		{[]int32{0, 2, 2, 2}, right, []int{3}},
		{[]int32{2, 0, 0, 2}, right, []int{3}},
		{[]int32{2, 4, 2, 4}, right, nil},
	} {
		row := &pb.Twenty48Board{Rows: 1, Columns: 4, Tiles: c.line}
		assert.Equal(t, c.want, board.MergedBy(row, c.d), "%v", c.line)
		column := &pb.Twenty48Board{Rows: 4, Columns: 1, Tiles: c.line}
		turned := pb.Direction_DIRECTION_UP
		if c.d == right {
			turned = pb.Direction_DIRECTION_DOWN
		}
		assert.Equal(t, c.want, board.MergedBy(column, turned), "%v", c.line)
	}
}

// Ensure that an animated move shows tiles between their cells, then the new board without
// its new tile, then the new board itself.
func TestMotion(t *testing.T) {
	t.Parallel()
	before := &pb.Twenty48Board{Rows: 2, Columns: 2, Tiles: []int32{0, 8, 0, 0}}
	after := board.Twenty48{
		Board: &pb.Twenty48Board{Rows: 2, Columns: 2, Tiles: []int32{8, 0, 0, 2}},
		Marks: board.Marks{Spawned: 3, Direction: left},
	}
	theme, size := style.Theme{Profile: colorprofile.TrueColor}, board.Size{Width: 7, Pitch: 2}
	frame := func(progress float64) string {
		return ansi.Strip(board.Moving(after, before, progress).Draw(size, theme))
	}
	column := func(text string) int {
		at := -1
		for x, char := range []rune(text) {
			if char == '8' {
				at = x % 18 // each line has 17 columns and a newline
			}
		}
		return at
	}
	assert.Equal(t, 12, column(frame(0)))
	assert.Equal(t, 4, column(frame(0.6)))
	assert.Greater(t, column(frame(0.2)), 4)
	assert.Less(t, column(frame(0.2)), 12)
	assert.NotContains(t, frame(0.5), "2")
	assert.NotContains(t, frame(0.61), "2")
	assert.Contains(t, frame(0.95), "2")
	assert.Equal(t, after, board.Moving(after, before, 1))
	assert.Equal(t, after, board.Moving(after, nil, 0.5))
	jumps := board.Tribolo{}
	assert.Equal(t, jumps, board.Moving(jumps, before, 0.5), "only tiles slide")
}

func TestPlain(t *testing.T) {
	t.Parallel()
	plain := func(b *pb.Twenty48Board) string {
		return board.Plain(&pb.Position{Board: &pb.Position_Twenty48{Twenty48: b}})
	}
	assert.Equal(t, "2 .\n. 4", plain(&pb.Twenty48Board{Rows: 2, Columns: 2, Tiles: []int32{2, 0, 0, 4}}))
	assert.Equal(t, "  16    .\n1024    2", plain(&pb.Twenty48Board{Rows: 2, Columns: 2, Tiles: []int32{16, 0, 1024, 2}}))
	assert.Zero(t, board.LargestTile(nil))
}

// Ensure that cells grow with the window, and that adjacent cells of one owner remain
// distinct at every size.
func TestTribolo_Sizes(t *testing.T) {
	t.Parallel()
	b := board.Tribolo{Board: &pb.TriboloBoard{Rows: 11, Columns: 16}}
	for range 11 * 16 {
		b.Board.Cells = append(b.Board.Cells, pb.CellState_CELL_STATE_BLUE)
	}
	for _, c := range []struct {
		width, height int // size of the body
		profile       colorprofile.Profile
		want          board.Size
	}{
		{78, 20, colorprofile.TrueColor, board.Size{Width: 3, Pitch: 1}},
		{118, 32, colorprofile.TrueColor, board.Size{Width: 4, Pitch: 2}},
		{138, 40, colorprofile.TrueColor, board.Size{Width: 6, Pitch: 3}},
		{198, 56, colorprofile.TrueColor, board.Size{Width: 8, Pitch: 4}},
		{198, 56, colorprofile.ANSI, board.Size{Width: 8, Pitch: 4}},
		{198, 56, colorprofile.ASCII, board.Size{Width: 4, Pitch: 2}},
	} {
		theme := style.Theme{Profile: c.profile}
		l, ok := board.Place(b, theme, c.width, c.height, 9)
		assert.True(t, ok)
		assert.True(t, l.Wide)
		assert.Equal(t, c.want, l.Cell, "%d×%d", c.width, c.height)
		row := strings.Split(ansi.Strip(b.Draw(l.Cell, theme)), "\n")[1+c.want.Pitch/2]
		assert.NotContains(t, row, "BB")
		assert.Equal(t, 16, strings.Count(row, "B"))
		if c.want.Pitch == 1 {
			assert.Equal(t, 16, strings.Count(row, "▏B"))
		}
	}
}

// Ensure that a board that does not fit is drawn small if there are colors: above its panel
// or, failing that, beside a narrow one.
func TestPlace(t *testing.T) {
	t.Parallel()
	b := board.Tribolo{Board: &pb.TriboloBoard{Rows: 11, Columns: 16, Cells: make([]pb.CellState, 11*16)}}
	for _, c := range []struct {
		width, height int
		profile       colorprofile.Profile
		want          board.Layout
		ok            bool
	}{
		{78, 20, colorprofile.TrueColor, board.Layout{Cell: board.Size{Width: 3, Pitch: 1}, Wide: true, PanelWidth: 24, PanelHeight: 13, Spare: 7}, true},
		{38, 11, colorprofile.TrueColor, board.Layout{Cell: board.Size{Width: 2, Pitch: 1, Mini: true}, PanelWidth: 36, PanelHeight: 5}, true},
		{38, 10, colorprofile.TrueColor, board.Layout{Cell: board.Size{Width: 2, Pitch: 1, Mini: true}, PanelWidth: 36, PanelHeight: 4}, true},
		{30, 6, colorprofile.TrueColor, board.Layout{Cell: board.Size{Width: 1, Pitch: 1, Mini: true}, Wide: true, PanelWidth: 12, PanelHeight: 6}, true},
		{29, 6, colorprofile.TrueColor, board.Layout{}, false},
		{38, 10, colorprofile.ASCII, board.Layout{}, false},
	} {
		theme := style.Theme{Profile: c.profile}
		l, ok := board.Place(b, theme, c.width, c.height, 6)
		if assert.Equal(t, c.ok, ok, "%d×%d", c.width, c.height); !ok {
			continue
		}
		assert.Equal(t, c.want, l, "%d×%d", c.width, c.height)
		width, height := lipgloss.Size(b.Draw(l.Cell, theme))
		assert.LessOrEqual(t, width, c.width)
		assert.LessOrEqual(t, height, c.height)
	}
}

// Ensure that the cursor is visible at every color depth and size.
func TestTribolo_Cursor(t *testing.T) {
	t.Parallel()
	b := board.Tribolo{Board: &pb.TriboloBoard{Rows: 2, Columns: 2, Cells: []pb.CellState{
		pb.CellState_CELL_STATE_BLUE, pb.CellState_CELL_STATE_BLUE, pb.CellState_CELL_STATE_EMPTY, pb.CellState_CELL_STATE_WALL,
	}}}
	for _, profile := range []colorprofile.Profile{
		colorprofile.ASCII, colorprofile.ANSI, colorprofile.ANSI256, colorprofile.TrueColor,
	} {
		for _, light := range []bool{false, true} {
			theme := style.Theme{Profile: profile, Light: light}
			sizes, tight, mini := b.Sizes(theme)
			for _, size := range slices.Concat(sizes, tight, mini) {
				seen := map[string]bool{}
				for i := range int32(5) {
					at := b
					if i < 4 {
						at.Cursor = &pb.Cell{X: i % 2, Y: i / 2}
					}
					seen[at.Draw(size, theme)] = true
				}
				assert.Len(t, seen, 5, "%v %v", profile, size)
			}
		}
	}
}

// Ensure that single digits are centered in their tile at every size.
func TestCentered(t *testing.T) {
	t.Parallel()
	b := board.Twenty48{Board: &pb.Twenty48Board{Rows: 1, Columns: 1, Tiles: []int32{8}}, Marks: board.NoMarks}
	for _, profile := range []colorprofile.Profile{colorprofile.ASCII, colorprofile.TrueColor} {
		theme := style.Theme{Profile: profile}
		sizes, _, _ := b.Sizes(theme)
		for _, size := range sizes {
			if size.Width > 17 || profile == colorprofile.ASCII && size.Pitch == 1 {
				continue // the digit is drawn in pixels, or the board as bare numbers
			}
			x := -1
			width, _ := b.Measure(size)
			for i, char := range []rune(ansi.Strip(b.Draw(size, theme))) {
				if char == '8' {
					x = i % (width + 1)
				}
			}
			assert.Equal(t, width/2, x, "%v %v", profile, size)
		}
	}
}
