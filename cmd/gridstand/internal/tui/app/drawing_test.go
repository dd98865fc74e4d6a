package app

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/ansi"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/board"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/style"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/ui"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/widget"
	"github.com/gridstand/gridstand/game"
	"github.com/gridstand/gridstand/game/twenty48"
	"github.com/gridstand/gridstand/game/variants"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// The tests in this file are those of the packages that pages draw with. They are here so that only
// one program has to be linked for them.

var trueColor = style.Theme{Profile: colorprofile.TrueColor}

// Ensure that Text renders and inherits like lipgloss.Style.
func TestStyle_Text(t *testing.T) {
	t.Parallel()
	styles := []style.Text{{}, trueColor.Accent(), trueColor.Dim().Bold(true), trueColor.Bar(true), trueColor.Owner(1)}
	for _, s := range styles {
		for _, text := range []string{"", "text", "a\tb", "one\ntwo\nthree", "\n", "ab\r\nab", "x" + trueColor.Good().Render("y") + "z"} {
			assert.Equal(t, s.Lipgloss().Render(text), s.Render(text), "%q", text)
			for _, from := range styles {
				assert.Equal(t, s.Lipgloss().Inherit(from.Lipgloss()).Render(text), s.Inherit(from).Render(text), "%q", text)
			}
		}
	}
}

// Ensure that Width returns the same as ansi.StringWidth.
func TestStyle_Width(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"", "plain", "\x1b[38;2;1;2;3mink\x1b[m", "╭─▀▄█▟■╮", "● live", "e\u0301", "─\u0301", "a\u200db", "日本", "👨\u200d👩\u200d👧",
		"\x1b", "\x1b[", "\x1b[1", "\x1b[1;m", "\x1b[4:3mx", "\x1b[2Kx", "\x1b]8;;http://x\x07y", "\t", "\x7f", "\xe2\x94", "\x9b1m", "a\nb",
	} {
		assert.Equal(t, ansi.StringWidth(text), style.Width(text), "%q", text)
	}
}

// keys returns n keys, with labels from "key1" on.
func keys(n int) []key.Binding {
	var all []key.Binding
	for i := range n {
		all = append(all, ui.Bind(fmt.Sprintf("key%d", i+1), "does something"))
	}
	return all
}

// Ensure that a help that is taller than the window can be scrolled to its end, and that another
// key is not taken for scrolling.
func TestWidget_Help(t *testing.T) {
	t.Parallel()
	at, groups := widget.NewScroll(), [][]key.Binding{keys(30)}
	const width, height = 40, 12
	drawn := func() string { return ansi.Strip(widget.Help(style.Theme{}, groups, width, height, at)) }
	assert.Contains(t, drawn(), "key1 ")
	assert.NotContains(t, drawn(), "key30")
	across, down := lipgloss.Size(drawn())
	assert.LessOrEqual(t, across, width)
	assert.LessOrEqual(t, down, height)
	for range 30 {
		assert.True(t, at.Key(tea.KeyPressMsg{Code: tea.KeyDown}))
	}
	assert.Contains(t, drawn(), "key30")
	assert.NotContains(t, drawn(), "key1 ")
	assert.False(t, at.Key(tea.KeyPressMsg{Code: 'x', Text: "x"}))

	groups = [][]key.Binding{keys(3)}
	assert.Contains(t, drawn(), "key1 ")
	assert.False(t, at.Key(tea.KeyPressMsg{Code: tea.KeyDown}), "the whole text is visible")
}

// Ensure that a footer that is too long keeps its first keys and its last two.
func TestWidget_KeyLine(t *testing.T) {
	t.Parallel()
	for width, want := range map[int]string{
		200: "key1 does something   key2 does something   key3 does something   key4 does something",
		65:  "key1 does something   key3 does something   key4 does something",
		45:  "key3 does something   key4 does something",
		10:  "key4 does…",
	} {
		assert.Equal(t, want, ansi.Strip(widget.KeyLine(style.Theme{}, keys(4), width)), width)
	}
}

// Ensure that, throughout a game, the tiles marked by MergedBy add up to the points gained
// by the move, and that the marked tiles are those nearest to the edge that tiles move to.
func TestBoard_Merges(t *testing.T) {
	t.Parallel()
	v, ok := variants.Current("classic")
	require.True(t, ok)
	seed, err := game.SeedFromBytes(make([]byte, game.SeedSize))
	require.NoError(t, err)
	p := v.Rules.Start(seed.Draws(1))
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
		p = next
	}
	row := func(tiles ...int32) *pb.Twenty48Board { return &pb.Twenty48Board{Rows: 1, Columns: 4, Tiles: tiles} }
	assert.Equal(t, []int{0, 1}, board.MergedBy(row(2, 2, 2, 2), pb.Direction_DIRECTION_LEFT))
	assert.Equal(t, []int{3}, board.MergedBy(row(0, 2, 2, 2), pb.Direction_DIRECTION_RIGHT))
	assert.Empty(t, board.MergedBy(row(2, 4, 2, 4), pb.Direction_DIRECTION_RIGHT))
}

// Ensure that a board grows with the window, that adjacent cells of one owner remain distinct, and
// that a board that does not fit is drawn small if there are colors: above its panel or, failing that,
// beside a narrow one.
func TestBoard_Place(t *testing.T) {
	t.Parallel()
	b := board.Tribolo{Board: &pb.TriboloBoard{Rows: 11, Columns: 16}}
	b.Board.Cells = slices.Repeat([]pb.CellState{pb.CellState_CELL_STATE_BLUE}, 11*16)
	for _, c := range []struct {
		width, height int // size of the body
		profile       colorprofile.Profile
		wide          bool // whether the panel is beside the board
		want          board.Size
	}{
		{198, 56, colorprofile.TrueColor, true, board.Size{Width: 8, Pitch: 4}},
		{198, 56, colorprofile.ANSI, true, board.Size{Width: 8, Pitch: 4}},
		{198, 56, colorprofile.ASCII, true, board.Size{Width: 4, Pitch: 2}},
		{138, 40, colorprofile.TrueColor, true, board.Size{Width: 6, Pitch: 3}},
		{118, 32, colorprofile.TrueColor, true, board.Size{Width: 4, Pitch: 2}},
		{78, 20, colorprofile.TrueColor, true, board.Size{Width: 3, Pitch: 1}},
		{38, 10, colorprofile.TrueColor, false, board.Size{Width: 2, Pitch: 1, Mini: true}},
		{30, 6, colorprofile.TrueColor, true, board.Size{Width: 1, Pitch: 1, Mini: true}},
		{29, 6, colorprofile.TrueColor, false, board.Size{}},
		{38, 10, colorprofile.ASCII, false, board.Size{}},
	} {
		theme := style.Theme{Profile: c.profile}
		l, ok := board.Place(b, theme, c.width, c.height, 6)
		assert.Equal(t, c.want != board.Size{}, ok, "%v", c)
		if !ok {
			continue
		}
		assert.Equal(t, c.want, l.Cell, "%v", c)
		assert.Equal(t, c.wide, l.Wide, "%v", c)
		drawn := ansi.Strip(b.Draw(l.Cell, theme))
		width, height := lipgloss.Size(drawn)
		assert.LessOrEqual(t, width, c.width)
		assert.LessOrEqual(t, height, c.height)
		if !c.want.Mini {
			row := strings.Split(drawn, "\n")[1+c.want.Pitch/2]
			assert.NotContains(t, row, "BB")
			assert.Equal(t, 16, strings.Count(row, "B"))
		}
	}
}
