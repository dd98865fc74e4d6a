package board

import (
	"slices"
	"strings"

	"charm.land/lipgloss/v2"

	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/ui"
)

// Gaps between the slots of a grid, in columns and rows.
const (
	gridGapX = 3
	gridGapY = 1
)

// Slot is a place for a board in a grid.
type Slot struct {
	Board Board // nil while it is unknown
	// Name and Facts are the left and the right end of the line above the board. Name is truncated if there is
	// not enough room for both.
	Name, Facts string
	// Below returns the text below the board for a width, or is nil. Lines is the number of its lines.
	Below func(width int) string
	Lines int
}

// titleGap is the least number of columns between the name and the facts of a slot. nameMin is the width of a name,
// such as that of a guest with a number, that DrawGrid does not truncate if another arrangement can avoid it.
const (
	titleGap = 2
	nameMin  = 14
)

// title returns the line above the board in exactly width columns.
func (s Slot) title(width int) string {
	room := max(width-titleGap-lipgloss.Width(s.Facts), 1)
	return ui.Cell(ui.Cell(s.Name, room)+strings.Repeat(" ", titleGap)+s.Facts, width)
}

// fit returns the size of the board's cells in a slot of width × height. It returns false if
// no size fits.
func (s Slot) fit(t ui.Theme, width, height int) (c Size, ok bool) {
	if s.Board == nil {
		return c, true
	}
	return LargestSize(s.Board, t, width, height-1-s.Lines)
}

// Draw draws the board, as large as possible, and its text in width × height.
func (s Slot) Draw(t ui.Theme, width, height int) string {
	text := width
	var parts []string
	if c, ok := s.fit(t, width, height); !ok {
		needsWidth, needsHeight := Needs(s.Board, t)
		return s.title(width) + "\n" + ui.TooSmall(width, height, needsWidth, needsHeight+1+s.Lines)
	} else if s.Board != nil {
		across, _ := s.Board.Measure(c)
		text = min(width, max(across, lipgloss.Width(s.Name)+titleGap+lipgloss.Width(s.Facts)))
		parts = append(parts, lipgloss.PlaceHorizontal(text, lipgloss.Center, s.Board.Draw(c, t)))
	}
	parts = append([]string{s.title(text)}, parts...)
	if s.Below != nil {
		parts = append(parts, s.Below(text))
	}
	return lipgloss.JoinVertical(lipgloss.Left, parts...)
}

// named reports whether the title has room for nameMin columns of the name in width.
func (s Slot) named(width int) bool {
	return width-titleGap-lipgloss.Width(s.Facts) >= min(lipgloss.Width(s.Name), nameMin)
}

// DrawGrid arranges slots of equal size in rows and columns within width × height. It picks the
// number of columns that gives the largest boards, provided that every board fits, and if possible every name.
// DrawGrid returns false if a board does not fit, or if there are no boards.
func DrawGrid(t ui.Theme, slots []Slot, width, height int) (string, bool) {
	n, most, columns, slotWidth, slotHeight := len(slots), -1, 0, 0, 0
	for i := range n {
		c := (i+1)%n + 1 // first 2, then more, last 1
		rows := (n + c - 1) / c
		x, y := (width-(c-1)*gridGapX)/c, (height-(rows-1)*gridGapY)/rows
		area, ok := boardArea(t, slots, x, y)
		if !slices.ContainsFunc(slots, func(s Slot) bool { return !s.named(x) }) {
			area += width * height // more than the boards can take
		}
		if ok && area > most {
			most, columns, slotWidth, slotHeight = area, c, x, y
		}
	}
	if most < 0 {
		return "", false
	}
	var rows, row []string
	for i, slot := range slots {
		row = append(row, lipgloss.PlaceHorizontal(slotWidth, lipgloss.Center, slot.Draw(t, slotWidth, slotHeight)))
		if len(row) < 2*columns-1 && i < n-1 {
			row = append(row, strings.Repeat(" ", gridGapX))
			continue
		}
		rows, row = append(rows, lipgloss.JoinHorizontal(lipgloss.Top, row...)), nil
	}
	return strings.Join(rows, strings.Repeat("\n", 1+gridGapY)), true
}

// boardArea returns the area of all boards in slots of width × height. It returns false if a
// board does not fit.
func boardArea(t ui.Theme, slots []Slot, width, height int) (area int, ok bool) {
	for _, slot := range slots {
		c, fits := slot.fit(t, width, height)
		if !fits {
			return 0, false
		}
		if slot.Board != nil {
			w, h := slot.Board.Measure(c)
			area += w * h
		}
	}
	return area, true
}
