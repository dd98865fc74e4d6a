package tui

import (
	"image"
	"image/color"
	"slices"
	"strconv"
	"strings"

	"charm.land/lipgloss/v2"

	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// cellSize is the room that a cell of the board gets, without the gap to its
// left.
type cellSize struct {
	// width in columns.
	width int
	// pitch is the rows from one cell to the next, with the gap between them.
	pitch int
	// bare leaves the cells away: only the numbers stand there.
	bare bool
}

// The sizes of cells, the best first; a screen takes the first that fits.
var (
	sizeHuge   = cellSize{width: 10, pitch: 6}
	sizeLarge  = cellSize{width: 6, pitch: 4}
	sizeMiddle = cellSize{width: 6, pitch: 3}
	sizeSmall  = cellSize{width: 6, pitch: 2}
	sizeFlat   = cellSize{width: 6, pitch: 1}
)

// bareSize is the size of nothing but numbers on a board.
func bareSize(b *pb.Twenty48Board) cellSize {
	digits := len(strconv.Itoa(int(max(largest(b), 1000))))
	return cellSize{width: digits, pitch: 1, bare: true}
}

// boardSize is the columns and rows that a board takes at a cell size.
func boardSize(b *pb.Twenty48Board, c cellSize) (width, height int) {
	rows, columns := int(b.GetRows()), int(b.GetColumns())
	width = columns*(c.width+1) + 1
	switch {
	case c.bare:
		return width - 2, rows
	case c.pitch == 1:
		return width, rows
	default:
		return width, rows*c.pitch + 1
	}
}

// marks are the cells that the last event changed, to lead the eye to them.
type marks struct {
	merged  []int // cells, row-major
	spawned int   // cell, -1 for none
}

// noMarks marks nothing.
var noMarks = marks{spawned: -1}

// drawBoard draws a board: filled tiles in colour, else a grid of lines. Where
// there are no colours, a tile that just spawned stands in brackets.
func drawBoard(b *pb.Twenty48Board, m marks, c cellSize, t Theme) string {
	switch {
	case c.bare:
		return drawNumbers(b, c.width, m)
	case t.coloured():
		return drawTiles(b, m, c, t)
	case c.pitch == 1:
		return drawNumbers(b, c.width, m)
	default:
		return drawGrid(b, m, c)
	}
}

// drawTiles paints the board with one column and half a row of gap around the
// tiles. A tile that just spawned is drawn smaller, one that just merged
// swells over the gap.
func drawTiles(b *pb.Twenty48Board, m marks, c cellSize, t Theme) string {
	p := t.palette()
	width, height := boardSize(b, c)
	pic := newCanvas(width, height)
	gap := 1 // of pixels between two tiles, one above the other
	bottom := height*2 - 1
	if c.pitch == 1 {
		gap, bottom = 0, height*2
	}
	pic.fill(image.Rect(0, 0, width, bottom), p.board)
	for i, face := range b.GetTiles() {
		row, column := i/int(b.GetColumns()), i%int(b.GetColumns())
		x, y := 1+column*(c.width+1), gap+row*c.pitch*2
		cell := image.Rect(x, y, x+c.width, y+c.pitch*2-gap)
		pic.fill(cell, p.empty)
		if face == 0 {
			continue
		}
		tone := p.tile(face)
		ground := tone.ground
		switch {
		case i == m.spawned:
			inset := min(c.pitch/3, 1) // a low cell has no room for it
			cell = image.Rect(cell.Min.X+1, cell.Min.Y+inset, cell.Max.X-1, cell.Max.Y-inset)
		case slices.Contains(m.merged, i):
			cell = image.Rect(cell.Min.X-1, cell.Min.Y-gap, cell.Max.X+1, cell.Max.Y+gap)
			ground = brighter(ground)
		}
		pic.fill(cell, ground)
		text := strconv.Itoa(int(face))
		pic.write(x+(c.width-len(text)+1)/2, row*c.pitch+c.pitch/2, text, tone.ink, face >= 8)
	}
	return pic.String()
}

// brighter lightens a colour that is given by its components; those of a fixed
// list stay as they are.
func brighter(c color.Color) color.Color {
	if rgb, ok := c.(color.RGBA); ok {
		return lipgloss.Lighten(rgb, 0.12)
	}
	return c
}

// drawGrid draws the board with lines, for terminals without colours.
func drawGrid(b *pb.Twenty48Board, m marks, c cellSize) string {
	rule := func(left, cross, right string) string {
		cell := strings.Repeat("─", c.width)
		return left + strings.Repeat(cell+cross, int(b.GetColumns())-1) + cell + right
	}
	blank := "│" + strings.Repeat(strings.Repeat(" ", c.width)+"│", int(b.GetColumns()))
	lines := []string{rule("╭", "┬", "╮")}
	for row := range int(b.GetRows()) {
		if row > 0 {
			lines = append(lines, rule("├", "┼", "┤"))
		}
		for line := range c.pitch - 1 {
			if line != (c.pitch-1)/2 {
				lines = append(lines, blank)
				continue
			}
			var out strings.Builder
			out.WriteString("│")
			for column := range int(b.GetColumns()) {
				out.WriteString(number(b, row*int(b.GetColumns())+column, c.width, m) + "│")
			}
			lines = append(lines, out.String())
		}
	}
	return strings.Join(append(lines, rule("╰", "┴", "╯")), "\n")
}

// drawNumbers draws nothing but the numbers, in columns.
func drawNumbers(b *pb.Twenty48Board, width int, m marks) string {
	lines := make([]string, b.GetRows())
	for row := range lines {
		cells := make([]string, b.GetColumns())
		for column := range cells {
			i := row*len(cells) + column
			text := "."
			if face := b.GetTiles()[i]; face != 0 {
				text = strconv.Itoa(int(face))
			}
			cells[column] = lipgloss.NewStyle().Bold(i == m.spawned || slices.Contains(m.merged, i)).
				Render(strings.Repeat(" ", max(width-len(text), 0)) + text)
		}
		lines[row] = strings.Join(cells, " ")
	}
	return strings.Join(lines, "\n")
}

// number is a cell's number in the middle of width columns.
func number(b *pb.Twenty48Board, i, width int, m marks) string {
	face := b.GetTiles()[i]
	if face == 0 {
		return strings.Repeat(" ", width)
	}
	text := strconv.Itoa(int(face))
	if i == m.spawned {
		text = "[" + text + "]"
	}
	if len(text) > width { // No game comes that far, but a server may say so.
		text = text[:width-1] + "…"
		return lipgloss.NewStyle().Bold(slices.Contains(m.merged, i)).Render(text)
	}
	left := (width - len(text) + 1) / 2
	text = strings.Repeat(" ", left) + text + strings.Repeat(" ", max(width-left-len(text), 0))
	return lipgloss.NewStyle().Bold(slices.Contains(m.merged, i)).Render(text)
}

// PlainBoard is a board as lines of numbers in columns, with dots for empty
// cells, for output that is no terminal.
func PlainBoard(b *pb.Twenty48Board) string {
	width := len(strconv.Itoa(int(max(largest(b), 2))))
	return drawNumbers(b, width, noMarks)
}

// largest is the highest tile on a board, 0 on an empty one.
func largest(b *pb.Twenty48Board) int32 {
	if len(b.GetTiles()) == 0 {
		return 0
	}
	return slices.Max(b.GetTiles())
}

// mergedBy lists the cells in which a slide of the board made a tile out of
// two, by the rule that all variants of 2048 share.
func mergedBy(before *pb.Twenty48Board, d pb.Direction) []int {
	rows, columns := int(before.GetRows()), int(before.GetColumns())
	// A line of cells begins at the edge that the tiles go to.
	lines, length := rows, columns
	if d == pb.Direction_DIRECTION_UP || d == pb.Direction_DIRECTION_DOWN {
		lines, length = columns, rows
	}
	cell := func(line, i int) int {
		switch d {
		case pb.Direction_DIRECTION_UP:
			return i*columns + line
		case pb.Direction_DIRECTION_DOWN:
			return (rows-1-i)*columns + line
		case pb.Direction_DIRECTION_RIGHT:
			return line*columns + columns - 1 - i
		default:
			return line*columns + i
		}
	}
	var merged []int
	for line := range lines {
		filled, waiting := 0, int32(0) // tiles so far, and the last one while it may still merge
		for i := range length {
			face := before.GetTiles()[cell(line, i)]
			switch {
			case face == 0:
			case face == waiting:
				merged = append(merged, cell(line, filled-1))
				waiting = 0
			default:
				filled++
				waiting = face
			}
		}
	}
	return merged
}
