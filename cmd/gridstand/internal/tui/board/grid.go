package board

import (
	"slices"
	"strings"

	"charm.land/lipgloss/v2"

	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/style"
)

// Gaps between the slots of a grid, in columns and rows.
const (
	gridGapX = 3
	gridGapY = 1
)

// Grid arranges several boards in rows and columns.
type Grid struct {
	// Columns is the number of slots in a row.
	Columns int
	// Width and Height are the size of a slot.
	Width, Height int
}

// Slot is what a slot of a grid contains.
type Slot struct {
	Board Board // nil while it is unknown
	Lines int   // lines of text above and below the board
}

// Fit returns the size of the board's cells in a slot of width × height. It returns false if
// no size fits.
func (s Slot) Fit(t style.Theme, width, height int) (c Size, ok bool) {
	if s.Board == nil {
		return c, true
	}
	return LargestSize(s.Board, t, width, height-s.Lines)
}

// FitGrid divides width × height into a grid. It picks the number of columns that gives the
// largest boards, provided that every board fits. FitGrid returns false if a board does not
// fit, or if there are no boards.
func FitGrid(t style.Theme, slots []Slot, width, height int) (g Grid, ok bool) {
	n := len(slots)
	choices := []int{2, n, 1}
	for columns := 3; columns < n; columns++ {
		choices = append(choices, columns)
	}
	best := 0
	for _, columns := range slices.DeleteFunc(choices, func(c int) bool { return c < 1 || c > n }) {
		rows := (n + columns - 1) / columns
		x, y := (width-(columns-1)*gridGapX)/columns, (height-(rows-1)*gridGapY)/rows
		area, all := 0, true
		for _, slot := range slots {
			c, fits := slot.Fit(t, x, y)
			if fits && slot.Board != nil {
				w, h := slot.Board.Measure(c)
				area += w * h
			}
			all = all && fits
		}
		if all && (!ok || area > best) {
			best, g, ok = area, Grid{columns, x, y}, true
		}
	}
	return g, ok
}

// Draw arranges n drawn boards in the grid. cell returns board i.
func (g Grid) Draw(n int, cell func(i int) string) string {
	var rows, row []string
	for i := range n {
		row = append(row, lipgloss.PlaceHorizontal(g.Width, lipgloss.Center, cell(i)))
		if len(row) < 2*g.Columns-1 && i < n-1 {
			row = append(row, strings.Repeat(" ", gridGapX))
			continue
		}
		rows, row = append(rows, lipgloss.JoinHorizontal(lipgloss.Top, row...)), nil
	}
	return strings.Join(rows, strings.Repeat("\n", 1+gridGapY))
}
