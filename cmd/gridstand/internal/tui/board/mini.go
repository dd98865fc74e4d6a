package board

import (
	"image"
	"image/color"

	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/style"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// mini is a small version of a Tribolo board. Its cells are blocks of color without
// letters, and two rows of cells share a terminal row. The cursor is a cell in a different
// color. mini needs a theme with colors.
type mini struct{ Tribolo }

// Small returns a version of the board that is smaller than any of its own sizes. It
// returns false if the board has no such version.
func Small(b Board, t style.Theme) (Board, bool) {
	p, ok := b.(Tribolo)
	return mini{p}, ok && t.Colored()
}

// Sizes implements Board. Here, Pitch is in half-rows.
func (p mini) Sizes(style.Theme) (sizes, tight []Size) {
	sizes = []Size{{Width: 2, Pitch: 1}, {Width: 1, Pitch: 1}}
	return sizes, sizes
}

func (p mini) Measure(c Size) (width, height int) {
	return int(p.Board.GetColumns()) * c.Width, (int(p.Board.GetRows())*c.Pitch + 1) / 2
}

func (p mini) Draw(c Size, t style.Theme) string {
	width, height := p.Measure(c)
	canvas, columns := style.NewCanvas(width, height), int(p.Board.GetColumns())
	for i, state := range p.Board.GetCells() {
		row, column := i/columns, i%columns
		canvas.Fill(image.Rect(column*c.Width, row*c.Pitch, (column+1)*c.Width, (row+1)*c.Pitch), p.paint(i, SeatOf(state), t))
	}
	return canvas.Render()
}

// paint returns the color of cell i. seat is its owner, or -1.
func (p mini) paint(i, seat int, t style.Theme) color.Color {
	colors, columns := t.Colors(), p.Board.GetColumns()
	at := &pb.Cell{X: int32(i) % columns, Y: int32(i) / columns}
	switch {
	case SameCell(p.Cursor, at):
		return colors.Tile(2048).Ground
	case p.Board.GetCells()[i] == pb.CellState_CELL_STATE_WALL:
		return colors.Dim
	case seat < 0 && p.Hints && MoveTo(p.Board, at) != nil:
		return colors.Faint
	case seat < 0:
		return colors.Empty
	case p.Jump != nil && (SameCell(p.Jump.To, at) || containsCell(p.Jump.Taken, at)):
		return colors.Fresh[seat].Ground
	default:
		return colors.Owners[seat].Ground
	}
}
