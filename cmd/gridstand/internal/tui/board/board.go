// Package board draws the boards of all games, given a size and a theme. It holds no
// state. A new kind of game needs a drawing here and a mode in package play.
package board

import (
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/style"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// Board is a board, ready to be drawn at some size.
type Board interface {
	// Sizes lists the cell sizes in which the board can be drawn, the best first;
	// tight ones are for windows without room for a whole panel.
	Sizes(t style.Theme) (sizes, tight []Size)
	// Measure returns the columns and rows that the board takes.
	Measure(c Size) (width, height int)
	// Draw draws the board.
	Draw(c Size, t style.Theme) string
}

// Size is the room that a cell gets, without the gap to its left.
type Size struct {
	// Width in columns.
	Width int
	// Pitch is the number of rows from one cell to the next, with the gap between them.
	Pitch int
	// Bare draws no cells, only what stands in them.
	Bare bool
}

// Of returns the board of a position with what changed last, nil if this program
// cannot draw it.
func Of(p *pb.Position, m Marks, j *Jump) Board {
	switch b := p.GetBoard().(type) {
	case *pb.Position_Twenty48:
		return Twenty48{Board: b.Twenty48, Marks: m}
	case *pb.Position_Tribolo:
		return Tribolo{Board: b.Tribolo, Jump: j}
	default:
		return nil
	}
}

// Plain is the board of a position as text without colors, for output that is not a
// terminal.
func Plain(p *pb.Position) string {
	switch b := p.GetBoard().(type) {
	case *pb.Position_Twenty48:
		return plainTwenty48(b.Twenty48)
	case *pb.Position_Tribolo:
		return plainTribolo(b.Tribolo)
	default:
		return "a board that this program cannot show"
	}
}

// Widths of a panel beside or below a board.
const (
	panelWidth    = 42 // the widest
	panelMinWidth = 24 // of one beside the board: a command with a short id
	PanelGap      = 2  // columns between board and panel
)

// Layout is where a board and its panel go in a window.
type Layout struct {
	Cell Size
	// Wide puts the panel beside the board, otherwise it is below.
	Wide bool
	// PanelWidth and PanelHeight are the room of the panel.
	PanelWidth, PanelHeight int
	// Spare is the number of rows left over.
	Spare int
	// Small says that the board is drawn in small.
	Small bool
}

// Measures of the panel of a board in small.
const (
	smallPanelLines = 4
	smallPanelWidth = 12 // of one that has no room below the board
)

// Place is Fit for the board, or if it does not fit and colors allow that, for the board
// in small. It returns the board to draw.
func Place(b Board, t style.Theme, width, height, panelLines int) (Board, Layout, bool) {
	return orSmall(b, t, func(b Board, small bool) (Layout, bool) {
		if !small {
			return Fit(b, t, width, height, panelLines)
		}
		l, ok := Fit(b, t, width, height, smallPanelLines)
		if !ok {
			w, h := Needs(b, t)
			_, sizes := b.Sizes(t)
			l = Layout{Cell: sizes[len(sizes)-1], Wide: true, PanelWidth: width - w - PanelGap, PanelHeight: h}
			ok = h <= height && l.PanelWidth >= smallPanelWidth
		}
		if more := min(l.Spare, panelLines-l.PanelHeight); !l.Wide && more > 0 {
			l.PanelHeight, l.Spare = l.PanelHeight+more, l.Spare-more
		}
		l.Small = true
		return l, ok
	})
}

// orSmall fits a board, or if it does not fit and there is one, the same in small.
func orSmall[L any](b Board, t style.Theme, fit func(b Board, small bool) (L, bool)) (Board, L, bool) {
	l, ok := fit(b, false)
	if small, has := Small(b, t); !ok && has {
		b = small
		l, ok = fit(b, true)
	}
	return b, l, ok
}

// Fit finds the largest cells with which the board fits into width × height, beside a
// panel or above one of panelLines lines. If there are none, the panel loses lines, and
// goes where it keeps more of them. It returns false if not even bare numbers fit.
func Fit(b Board, t style.Theme, width, height, panelLines int) (Layout, bool) {
	sizes, tight := b.Sizes(t)
	below := width // columns of a panel below the board
	if below > panelMinWidth+6 {
		below -= 2
	}
	for _, c := range sizes {
		w, h := b.Measure(c)
		spare := height - h
		if room := width - w - PanelGap; room >= panelMinWidth && h >= 4 && spare >= 0 {
			return Layout{Cell: c, Wide: true, PanelWidth: min(room, panelWidth), PanelHeight: h, Spare: spare}, true
		}
		if spare -= panelLines; w <= width && spare >= 0 {
			return Layout{Cell: c, PanelWidth: min(below, panelWidth), PanelHeight: panelLines, Spare: spare}, true
		}
	}
	for _, c := range tight {
		w, h := b.Measure(c)
		spare := height - h
		if room := width - w - PanelGap; room >= panelMinWidth && spare >= 0 && h > spare {
			return Layout{Cell: c, Wide: true, PanelWidth: min(room, panelWidth), PanelHeight: h, Spare: spare}, true
		}
	}
	for _, c := range tight {
		w, h := b.Measure(c)
		if spare := height - h; w <= width && spare >= 1 {
			return Layout{Cell: c, PanelWidth: min(below, panelWidth), PanelHeight: min(spare, panelLines)}, true
		}
	}
	return Layout{}, false
}

// LargestSize returns the largest cells with which the board fits into width × height. It
// returns false if none do.
func LargestSize(b Board, t style.Theme, width, height int) (Size, bool) {
	sizes, tight := b.Sizes(t)
	for _, c := range append(sizes, tight...) {
		if w, h := b.Measure(c); w <= width && h <= height {
			return c, true
		}
	}
	return Size{}, false
}

// Largest is LargestSize for the board, or if it does not fit and colors allow that, for
// the board in small. It returns the board to draw.
func Largest(b Board, t style.Theme, width, height int) (Board, Size, bool) {
	return orSmall(b, t, func(b Board, _ bool) (Size, bool) { return LargestSize(b, t, width, height) })
}

// Needs is the smallest width and height in which the board can be drawn.
func Needs(b Board, t style.Theme) (width, height int) {
	_, tight := b.Sizes(t)
	return b.Measure(tight[len(tight)-1])
}

// Join puts a panel of exactly l.PanelWidth columns beside or below a drawn board, and
// returns the block and the column of it in which the board begins. It measures only one
// line: this runs for every frame of a motion.
func Join(l Layout, board, panel string) (block string, boardX int) {
	drawn, text := strings.Split(board, "\n"), strings.Split(panel, "\n")
	width := ansi.StringWidth(drawn[0])
	space := func(columns int) string { return strings.Repeat(" ", max(columns, 0)) }
	var lines []string
	if l.Wide {
		for i := range max(len(drawn), len(text)) {
			left, right := space(width), space(l.PanelWidth)
			if i < len(drawn) {
				left = drawn[i]
			}
			if i < len(text) {
				right = text[i]
			}
			lines = append(lines, left+space(PanelGap)+right)
		}
		return strings.Join(lines, "\n"), 0
	}
	boardX = max(l.PanelWidth-width, 0) / 2
	for _, line := range drawn {
		lines = append(lines, space(boardX)+line+space(l.PanelWidth-width-boardX))
	}
	if l.Spare >= 3 {
		lines = append(lines, space(max(width, l.PanelWidth)))
	}
	for _, line := range text {
		lines = append(lines, line+space(width-l.PanelWidth))
	}
	return strings.Join(lines, "\n"), boardX
}
