package board

import (
	"image"
	"image/color"
	"slices"
	"strconv"
	"strings"

	"charm.land/lipgloss/v2"

	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/style"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// The sizes of cells, the best first; a screen takes the first that fits.
var (
	sizeHuge   = Size{Width: 10, Pitch: 6}
	sizeLarge  = Size{Width: 6, Pitch: 4}
	sizeMiddle = Size{Width: 6, Pitch: 3}
	sizeSmall  = Size{Width: 6, Pitch: 2}
	sizeFlat   = Size{Width: 6, Pitch: 1}
)

// bareSize is the size of nothing but numbers on a board.
func bareSize(b *pb.Twenty48Board) Size {
	digits := len(strconv.Itoa(int(max(LargestTile(b), 1000))))
	return Size{Width: digits, Pitch: 1, Bare: true}
}

// boardSize is the columns and rows that a board takes at a cell size.
func boardSize(b *pb.Twenty48Board, c Size) (width, height int) {
	rows, columns := int(b.GetRows()), int(b.GetColumns())
	width = columns*(c.Width+1) + 1
	switch {
	case c.Bare:
		return width - 2, rows
	case c.Pitch == 1:
		return width, rows
	default:
		return width, rows*c.Pitch + 1
	}
}

// Marks are the cells that the last event changed, to lead the eye to them.
type Marks struct {
	Merged  []int // cells, row-major
	Spawned int   // cell, -1 for none
	// Direction of the last move, unspecified if that is unknown.
	Direction pb.Direction
}

// NoMarks marks nothing.
var NoMarks = Marks{Spawned: -1}

// Twenty48 is a board of 2048 with what changed last.
type Twenty48 struct {
	Board *pb.Twenty48Board
	Marks Marks
}

// Sizes implements Board.
func (p Twenty48) Sizes(t style.Theme) (sizes, tight []Size) {
	sizes = []Size{sizeHuge, sizeLarge, sizeMiddle, sizeSmall, sizeFlat}
	if !t.Colored() {
		sizes = []Size{sizeHuge, sizeLarge, sizeSmall, sizeFlat} // numbers need a middle row
	}
	return sizes, []Size{sizeSmall, sizeFlat, bareSize(p.Board)}
}

// Measure implements Board.
func (p Twenty48) Measure(c Size) (width, height int) { return boardSize(p.Board, c) }

// Draw implements Board.
func (p Twenty48) Draw(c Size, t style.Theme) string { return drawBoard(p.Board, p.Marks, c, t) }

// drawBoard draws a board: filled tiles in colour, else a grid of lines. Where
// there are no colours, a tile that just spawned stands in brackets.
func drawBoard(b *pb.Twenty48Board, m Marks, c Size, t style.Theme) string {
	switch {
	case c.Bare:
		return drawNumbers(b, c.Width, m)
	case t.Colored():
		return drawTiles(b, m, c, t)
	case c.Pitch == 1:
		return drawNumbers(b, c.Width, m)
	default:
		return drawGrid(b, m, c)
	}
}

// drawTiles paints the board with one column and half a row of gap around the
// tiles. A tile that just spawned is drawn smaller, one that just merged
// swells over the gap.
func drawTiles(b *pb.Twenty48Board, m Marks, c Size, t style.Theme) string {
	p := t.Palette()
	width, height := boardSize(b, c)
	pic := style.NewCanvas(width, height)
	gap := 1 // of pixels between two tiles, one above the other
	bottom := height*2 - 1
	if c.Pitch == 1 {
		gap, bottom = 0, height*2
	}
	pic.Fill(image.Rect(0, 0, width, bottom), p.Board)
	for i, face := range b.GetTiles() {
		row, column := i/int(b.GetColumns()), i%int(b.GetColumns())
		x, y := 1+column*(c.Width+1), gap+row*c.Pitch*2
		cell := image.Rect(x, y, x+c.Width, y+c.Pitch*2-gap)
		pic.Fill(cell, p.Empty)
		if face == 0 {
			continue
		}
		tone := p.Tile(face)
		ground := tone.Ground
		switch {
		case i == m.Spawned:
			inset := min(c.Pitch/3, 1) // a low cell has no room for it
			cell = image.Rect(cell.Min.X+1, cell.Min.Y+inset, cell.Max.X-1, cell.Max.Y-inset)
		case slices.Contains(m.Merged, i):
			cell = image.Rect(cell.Min.X-1, cell.Min.Y-gap, cell.Max.X+1, cell.Max.Y+gap)
			ground = brighter(ground)
		}
		pic.Fill(cell, ground)
		text := strconv.Itoa(int(face))
		pic.Write(x+(c.Width-len(text)+1)/2, row*c.Pitch+c.Pitch/2, text, tone.Ink, face >= 8)
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
func drawGrid(b *pb.Twenty48Board, m Marks, c Size) string {
	rule := func(left, cross, right string) string {
		cell := strings.Repeat("─", c.Width)
		return left + strings.Repeat(cell+cross, int(b.GetColumns())-1) + cell + right
	}
	blank := "│" + strings.Repeat(strings.Repeat(" ", c.Width)+"│", int(b.GetColumns()))
	lines := []string{rule("╭", "┬", "╮")}
	for row := range int(b.GetRows()) {
		if row > 0 {
			lines = append(lines, rule("├", "┼", "┤"))
		}
		for line := range c.Pitch - 1 {
			if line != (c.Pitch-1)/2 {
				lines = append(lines, blank)
				continue
			}
			var out strings.Builder
			out.WriteString("│")
			for column := range int(b.GetColumns()) {
				out.WriteString(number(b, row*int(b.GetColumns())+column, c.Width, m) + "│")
			}
			lines = append(lines, out.String())
		}
	}
	return strings.Join(append(lines, rule("╰", "┴", "╯")), "\n")
}

// drawNumbers draws nothing but the numbers, in columns.
func drawNumbers(b *pb.Twenty48Board, width int, m Marks) string {
	lines := make([]string, b.GetRows())
	for row := range lines {
		cells := make([]string, b.GetColumns())
		for column := range cells {
			i := row*len(cells) + column
			text := "."
			if face := b.GetTiles()[i]; face != 0 {
				text = strconv.Itoa(int(face))
			}
			cells[column] = lipgloss.NewStyle().Bold(i == m.Spawned || slices.Contains(m.Merged, i)).
				Render(strings.Repeat(" ", max(width-len(text), 0)) + text)
		}
		lines[row] = strings.Join(cells, " ")
	}
	return strings.Join(lines, "\n")
}

// number is a cell's number in the middle of width columns.
func number(b *pb.Twenty48Board, i, width int, m Marks) string {
	face := b.GetTiles()[i]
	if face == 0 {
		return strings.Repeat(" ", width)
	}
	text := strconv.Itoa(int(face))
	if i == m.Spawned {
		text = "[" + text + "]"
	}
	if len(text) > width { // No game comes that far, but a server may say so.
		text = text[:width-1] + "…"
		return lipgloss.NewStyle().Bold(slices.Contains(m.Merged, i)).Render(text)
	}
	left := (width - len(text) + 1) / 2
	text = strings.Repeat(" ", left) + text + strings.Repeat(" ", max(width-left-len(text), 0))
	return lipgloss.NewStyle().Bold(slices.Contains(m.Merged, i)).Render(text)
}

// plainTwenty48 is a board as lines of numbers in columns, with dots for empty
// cells, for output that is no terminal.
func plainTwenty48(b *pb.Twenty48Board) string {
	width := len(strconv.Itoa(int(max(LargestTile(b), 2))))
	return drawNumbers(b, width, NoMarks)
}

// LargestTile is the highest tile on a board, 0 on an empty one.
func LargestTile(b *pb.Twenty48Board) int32 {
	if len(b.GetTiles()) == 0 {
		return 0
	}
	return slices.Max(b.GetTiles())
}

// mergedBy lists the cells in which a slide of the board made a tile out of
// two, by the rule that all variants of 2048 share.
func MergedBy(before *pb.Twenty48Board, d pb.Direction) []int {
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
