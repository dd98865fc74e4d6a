package board

import (
	"image"
	"image/color"
	"slices"
	"strconv"
	"strings"

	"charm.land/lipgloss/v2"

	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/ui"
	"github.com/gridstand/gridstand/internal/describe"
	"github.com/gridstand/gridstand/internal/palette"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// twenty48Sizes are the cell sizes, best first. A page uses the first that fits. Cells are
// nearly square and an odd number of columns wide, so that a single digit can be centered.
var twenty48Sizes = []Size{
	{Width: 25, Pitch: 13},
	{Width: 19, Pitch: 10},
	{Width: 13, Pitch: 7},
	{Width: 11, Pitch: 6},
	{Width: 7, Pitch: 4},
	{Width: 7, Pitch: 3},
	{Width: 7, Pitch: 2},
	{Width: 5, Pitch: 2},
	{Width: 7, Pitch: 1},
	{Width: 5, Pitch: 1},
}

// Measure implements Board.
func (p Twenty48) Measure(c Size) (width, height int) {
	rows, columns := int(p.Board.GetRows()), int(p.Board.GetColumns())
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

// Marks are the cells that the last event changed. They are highlighted.
type Marks struct {
	Merged  []int // cells, row-major
	Spawned int   // cell, or -1
	// Direction is the direction of the last move, or unspecified if it is unknown.
	Direction pb.Direction
}

// NoMarks marks nothing.
var NoMarks = Marks{Spawned: -1}

// Twenty48 is a 2048 board with its highlights.
type Twenty48 struct {
	Board *pb.Twenty48Board
	Marks Marks

	before   *pb.Twenty48Board // board before the animated move, or nil
	progress float64
}

// Sizes implements Board.
func (p Twenty48) Sizes(t ui.Theme) (sizes, tight []Size) {
	sizes = twenty48Sizes
	if !t.Board().Colored() {
		sizes = sizes[2:] // those for large digits
	}
	digits := len(strconv.Itoa(int(max(describe.LargestTile(p.Board), 1000))))
	return sizes, append(slices.Clone(sizes[len(sizes)-4:]), Size{Width: digits, Pitch: 1, Bare: true})
}

// gap returns the vertical gap between two tiles, in pixels.
func (p Twenty48) gap(c Size) int { return min(c.Pitch-1, 1) }

// cell returns the position of a cell on the canvas, in columns and pixels.
func (p Twenty48) cell(c Size, i int) image.Rectangle {
	row, column := i/int(p.Board.GetColumns()), i%int(p.Board.GetColumns())
	x, y := 1+column*(c.Width+1), p.gap(c)+row*c.Pitch*2
	return image.Rect(x, y, x+c.Width, y+c.Pitch*2-p.gap(c))
}

// Draw draws filled tiles or, without colors, only their numbers, with brackets around a tile that just
// spawned.
func (p Twenty48) Draw(c Size, t ui.Theme) string {
	t = t.Board()
	if c.Bare {
		return drawNumbers(p.Board, c.Width, p.Marks)
	}
	return p.drawTiles(c, t)
}

// drawTiles paints the board with gaps of one column and half a row around the tiles. A
// tile that just spawned is drawn smaller. A tile that just merged covers the gap around
// it.
func (p Twenty48) drawTiles(c Size, t ui.Theme) string {
	colors := t.Colors()
	width, height := p.Measure(c)
	pic := ui.NewCanvas(width, height)
	gap, bottom := p.gap(c), height*2-1
	if c.Pitch == 1 {
		bottom = height * 2
	}
	pic.Fill(image.Rect(0, 0, width, bottom), colors.Board)
	for i, face := range p.Board.GetTiles() {
		pic.Fill(p.cell(c, i), colors.Empty)
		if face == 0 && !t.Colored() {
			write(pic, p.cell(c, i), emptyText, nil, false)
		}
	}
	for _, tile := range p.tiles() {
		tone, cell := colors.Tile(tile.face), tile.place(p, c)
		middle := cell
		switch {
		case tile.marked && tile.size >= 1:
			inset := min(c.Pitch/3, 1) // cells of one or two rows have no room for an inset
			cell = image.Rect(cell.Min.X+1, cell.Min.Y+inset, cell.Max.X-1, cell.Max.Y-inset)
		case tile.merged:
			cell = image.Rect(cell.Min.X-1, cell.Min.Y-gap, cell.Max.X+1, cell.Max.Y+gap)
			tone.Ground = shade(tone.Ground, 0.12)
		}
		pic.Fill(cell, tone.Ground)
		switch text := strconv.Itoa(int(tile.face)); {
		case !t.Colored() && tile.marked:
			write(pic, middle, "["+text+"]", nil, false)
		case !t.Colored():
			write(pic, middle, text, nil, tile.merged)
		case tile.size > 0.5:
			writeFace(pic, middle, tile.face, tone)
		}
	}
	return pic.Render()
}

// writeFace writes a tile's number at its center, in large digits if they fit.
func writeFace(pic *ui.Canvas, cell image.Rectangle, face int32, tone palette.Tone) {
	text := strconv.Itoa(int(face))
	if width, height := ui.LargeSize("0000"); width < cell.Dx() && height < cell.Dy()-4 {
		width, _ = ui.LargeSize(text)
		if width <= cell.Dx() {
			pic.Large(cell.Min.X+(cell.Dx()-width)/2, cell.Min.Y+(cell.Dy()-height)/2, text, tone.Ink)
			return
		}
	}
	write(pic, cell, text, tone.Ink, face >= 8)
}

// write writes text at the center of a cell.
func write(pic *ui.Canvas, cell image.Rectangle, text string, ink color.Color, bold bool) {
	x, row := cell.Min.X+(cell.Dx()-len(text))/2, (cell.Min.Y+cell.Max.Y)/4
	pic.Write(x, row, text, ink, bold)
}

// emptyText stands for an empty cell without colors.
const emptyText = "."

// shade lightens a true color, or darkens it if by is negative. It leaves indexed colors
// unchanged.
func shade(c color.Color, by float64) color.Color {
	rgb, ok := c.(color.RGBA)
	switch {
	case !ok:
		return c
	case by < 0:
		return lipgloss.Darken(rgb, -by)
	default:
		return lipgloss.Lighten(rgb, by)
	}
}

// drawNumbers draws only the numbers, aligned in columns.
func drawNumbers(b *pb.Twenty48Board, width int, m Marks) string {
	lines := make([]string, b.GetRows())
	for row := range lines {
		cells := make([]string, b.GetColumns())
		for column := range cells {
			i := row*len(cells) + column
			text := emptyText
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
