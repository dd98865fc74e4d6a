// Package board draws the boards of all games for a given size and theme. It holds no
// state. A new kind of game needs an implementation of Board here and a mode in package
// play.
package board

import (
	"slices"
	"strconv"
	"strings"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/ui"
	"github.com/gridstand/gridstand/internal/describe"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// Board is a game board that can be drawn at several sizes.
type Board interface {
	// Sizes returns the cell sizes at which the board can be drawn, best first. The tight
	// sizes are for windows without room for a full panel.
	Sizes(t ui.Theme) (sizes, tight []Size)
	// Measure returns the size of the drawn board in columns and rows.
	Measure(c Size) (width, height int)
	// Draw draws the board.
	Draw(c Size, t ui.Theme) string
}

// Size is the size of a cell, without the gap to its left.
type Size struct {
	// Width is the number of columns.
	Width int
	// Pitch is the number of rows from one cell to the next, including the gap.
	Pitch int
	// Bare draws only the contents of the cells.
	Bare bool
	// Mini draws cells as blocks of color, two of them in a row of the terminal. Pitch is
	// then in half-rows.
	Mini bool
}

// Of returns the board of a position with the last change highlighted, or nil if this
// program cannot draw that kind of game.
func Of(p *pb.Position, m Marks, j *pb.TriboloMove) Board {
	switch b := p.GetBoard().(type) {
	case *pb.Position_Twenty48:
		return Twenty48{Board: b.Twenty48, Marks: m}
	case *pb.Position_Tribolo:
		return Tribolo{Board: b.Tribolo, Jump: j}
	default:
		return nil
	}
}

// Plain returns the board of a position as text without colors, for output that is not a
// terminal.
func Plain(p *pb.Position) string {
	switch b := p.GetBoard().(type) {
	case *pb.Position_Twenty48:
		return drawNumbers(b.Twenty48, len(strconv.Itoa(int(max(describe.LargestTile(b.Twenty48), 2)))), NoMarks)
	case *pb.Position_Tribolo:
		return ansi.Strip(Tribolo{Board: b.Tribolo}.Draw(triboloTight[0], ui.Theme{}))
	default:
		return "a board that this program cannot show"
	}
}

// Sizes of a panel beside or below a board.
const (
	panelWidth    = 42 // maximum
	panelMinWidth = 24 // minimum beside the board
	panelMinLines = 4  // minimum; fits the scores of three seats, and whose turn it is
	panelLow      = 18 // rows beside a lower board, if the window has them; fits a result and a command
	PanelGap      = 2  // columns between board and panel
)

// Layout is the arrangement of a board and its panel in a window.
type Layout struct {
	Cell Size
	// Wide is set if the panel is beside the board, not below it.
	Wide bool
	// PanelWidth and PanelHeight are the size of the panel.
	PanelWidth, PanelHeight int
	// Spare is the number of rows left over below the panel if that is below the board.
	Spare int
}

// Roomy reports whether the panel has rows for names that continue on a second one.
func (l Layout) Roomy() bool { return l.PanelHeight >= panelLow }

// Place finds the largest cell size at which the board fits in width × height together with
// a panel: beside the board, or below it with panelLines lines. If no size fits, a panel below
// a board of a tight size has fewer lines. It returns false if the board does not fit with
// panelMinLines.
func Place(b Board, t ui.Theme, width, height, panelLines int) (Layout, bool) {
	sizes, tight := b.Sizes(t)
	below := width // columns of a panel below the board
	if below > panelMinWidth+6 {
		below -= 2
	}
	for i, c := range slices.Concat(sizes, tight) {
		w, h := b.Measure(c)
		room, spare := width-w-PanelGap, height-h
		lines := panelLines
		if i >= len(sizes) {
			lines = panelMinLines
		}
		switch {
		case room >= panelMinWidth && spare >= 0:
			lines = max(h, min(height, panelLow))
			return Layout{Cell: c, Wide: true, PanelWidth: min(room, panelWidth), PanelHeight: lines}, true
		case w <= width && spare >= lines:
			lines = min(spare, panelLines)
			return Layout{Cell: c, PanelWidth: min(below, panelWidth), PanelHeight: lines, Spare: spare - lines}, true
		}
	}
	return Layout{}, false
}

// LargestSize returns the largest cell size at which the board fits in width × height. It
// returns false if no size fits.
func LargestSize(b Board, t ui.Theme, width, height int) (Size, bool) {
	sizes, tight := b.Sizes(t)
	for _, c := range slices.Concat(sizes, tight) {
		if w, h := b.Measure(c); w <= width && h <= height {
			return c, true
		}
	}
	return Size{}, false
}

// Needs returns the minimum width and height that the board needs.
func Needs(b Board, t ui.Theme) (width, height int) {
	_, tight := b.Sizes(t)
	return b.Measure(tight[len(tight)-1])
}

// TooSmall returns the body to show if Place does not find a size for width × height.
func TooSmall(b Board, env *ui.Env, width, height int) string {
	needsWidth, needsHeight := Needs(b, env.Theme)
	return ui.TooSmall(env.Width, env.Height, needsWidth+env.Width-width, needsHeight+panelMinLines+env.Height-height)
}

// Join puts a panel of l.PanelWidth × l.PanelHeight with a text beside or below a drawn board. It
// returns the block and the board's first column in it. It measures only one line of the board,
// because it runs for every frame of an animation.
func Join(l Layout, board, text string) (block string, boardX int) {
	lines, panel := strings.Split(board, "\n"), ui.Block(text, l.PanelWidth, l.PanelHeight)
	if l.Wide { // at least as high as the board
		below := strings.Repeat(" ", lipgloss.Width(lines[0]))
		for i, line := range strings.Split(panel, "\n") {
			if i == len(lines) {
				lines = append(lines, below)
			}
			lines[i] += strings.Repeat(" ", PanelGap) + line
		}
		return strings.Join(lines, "\n"), 0
	}
	boardX = max(l.PanelWidth-lipgloss.Width(lines[0]), 0) / 2
	for i, line := range lines {
		lines[i] = strings.Repeat(" ", boardX) + line
	}
	if l.Spare >= 3 {
		lines = append(lines, "")
	}
	return strings.Join(append(lines, panel), "\n"), boardX
}
