package board

import (
	"slices"
	"strings"

	"charm.land/lipgloss/v2"
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

// FitGrid divides width × height into slots for n boards. It picks the number of columns
// that gives the largest boards, provided that every board fits. fit returns the area of
// board i in a slot of the given size, and whether it fits. FitGrid returns false if the
// boards do not all fit or n is 0.
func FitGrid(n, width, height int, fit func(i, width, height int) (area int, ok bool)) (g Grid, ok bool) {
	choices := []int{2, n, 1}
	for columns := 3; columns < n; columns++ {
		choices = append(choices, columns)
	}
	best := 0
	for _, columns := range slices.DeleteFunc(choices, func(c int) bool { return c < 1 || c > n }) {
		rows := (n + columns - 1) / columns
		x, y := (width-(columns-1)*gridGapX)/columns, (height-(rows-1)*gridGapY)/rows
		area, all := 0, true
		for i := range n {
			more, fits := fit(i, x, y)
			area, all = area+more, all && fits
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
