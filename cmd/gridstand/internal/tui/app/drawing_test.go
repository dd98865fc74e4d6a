package app

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/ansi"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/board"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/gamestate"
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

// Ensure that the points of all lines of the log end in the same column, and that a line that is too
// long is cut before its points.
func TestGamestate_LogLines(t *testing.T) {
	t.Parallel()
	s := gamestate.State{Log: []gamestate.Entry{
		{Move: 12, What: "red greedy jumped to 3,1", Gained: 4}, {Move: 11, What: "undone"}, {Move: 10, What: "not shown"},
	}}
	for width, want := range map[int]string{
		60: "    12  red greedy jumped to 3,1      +4\n    11  undone",
		30: "    12  red greedy ju…      +4\n    11  undone",
	} {
		assert.Equal(t, want, ansi.Strip(s.LogLines(style.Theme{}, width, 2)))
	}
}

// Ensure that a move is animated in frames of 24 ms, that late frames are skipped, and that animations
// stop once a frame takes more than twice the planned time, or if the next move comes too early.
func TestUI_Motion(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const frame = 24 * time.Millisecond
		env := &ui.Env{Theme: trueColor, Now: time.Unix(0, 0)}
		tasks := ui.NewTasks(t.Context())
		defer tasks.Stop()
		// run plays an animation and returns the progress at every frame.
		run := func(m *ui.Motion, each time.Duration) (shown []float64) {
			ended := 0
			for cmd := m.Start(env, tasks, func() { ended++ }); cmd != nil; {
				shown = append(shown, m.Progress())
				next := cmd().(ui.TaskMsg).Then
				env.Now = env.Now.Add(each)
				cmd = next()
			}
			assert.InDelta(t, 1, m.Progress(), 0, "the animation is complete")
			assert.Equal(t, len(shown) > 0, ended == 1, "the end is reported once")
			return shown
		}
		var m ui.Motion
		shown := run(&m, frame)
		assert.Len(t, shown, 5)
		assert.IsIncreasing(t, shown)
		assert.Len(t, run(&m, 2*frame), 3, "late frames are skipped")
		assert.Len(t, run(&m, 2*frame+1), 1)
		env.Now = env.Now.Add(time.Hour)
		assert.Empty(t, run(&m, frame), "a slow terminal gets no more frames")

		m = ui.Motion{}
		require.NotNil(t, m.Start(env, tasks, func() {}))
		assert.Nil(t, m.Start(env, tasks, func() {}), "the next move came too early")
		assert.InDelta(t, 1, m.Progress(), 0)
	})
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

// Ensure that an animated move shows tiles between their cells, then the new board without
// its new tile, then the new board itself.
func TestBoard_Motion(t *testing.T) {
	t.Parallel()
	before := &pb.Twenty48Board{Rows: 2, Columns: 2, Tiles: []int32{0, 8, 0, 0}}
	after := board.Twenty48{
		Board: &pb.Twenty48Board{Rows: 2, Columns: 2, Tiles: []int32{8, 0, 0, 2}},
		Marks: board.Marks{Spawned: 3, Direction: pb.Direction_DIRECTION_LEFT},
	}
	frame := func(progress float64) string {
		return ansi.Strip(board.Moving(after, before, progress).Draw(board.Size{Width: 7, Pitch: 2}, trueColor))
	}
	column := func(text string) int { // each line has 17 columns and a newline
		return slices.Index([]rune(text), '8') % 18
	}
	assert.Equal(t, 12, column(frame(0)))
	assert.Greater(t, column(frame(0.2)), 4)
	assert.Less(t, column(frame(0.2)), 12)
	assert.Equal(t, 4, column(frame(0.6)))
	assert.NotContains(t, frame(0.61), "2")
	assert.Contains(t, frame(0.95), "2")
	assert.Equal(t, after, board.Moving(after, before, 1))
	assert.Equal(t, after, board.Moving(after, nil, 0.5))
	jumps := board.Tribolo{}
	assert.Equal(t, jumps, board.Moving(jumps, before, 0.5), "only tiles slide")
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

// Ensure that the cursor is visible at every color depth and size.
func TestBoard_Cursor(t *testing.T) {
	t.Parallel()
	b := board.Tribolo{Board: &pb.TriboloBoard{Rows: 2, Columns: 2, Cells: []pb.CellState{
		pb.CellState_CELL_STATE_BLUE, pb.CellState_CELL_STATE_BLUE, pb.CellState_CELL_STATE_EMPTY, pb.CellState_CELL_STATE_WALL,
	}}}
	for _, theme := range []style.Theme{
		{Profile: colorprofile.ASCII},
		{Profile: colorprofile.ANSI},
		{Profile: colorprofile.ANSI256},
		trueColor,
		{Profile: colorprofile.TrueColor, Light: true},
	} {
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
			assert.Len(t, seen, 5, "%v %v", theme, size)
		}
	}
}
