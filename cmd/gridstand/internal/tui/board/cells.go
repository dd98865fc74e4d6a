package board

import (
	"image"
	"image/color"
	"slices"

	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/ui"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// The letters for the owners of cells, by seat, and the characters that fill their score
// bars on terminals without colors.
var (
	OwnerLetters = []string{"B", "R", "G"}
	OwnerBars    = []string{"█", "▓", "▒"}
)

// MoveTo returns the legal move to a cell, or nil.
func MoveTo(b *pb.TriboloBoard, to *pb.Cell) *pb.TriboloMove {
	return ui.Find(b.GetLegalMoves(), func(m *pb.TriboloMove) bool { return SameCell(m.GetCell(), to) })
}

// SeatOf returns the seat that owns a cell, or -1.
func SeatOf(s pb.CellState) int {
	if seat := int(s - pb.CellState_CELL_STATE_BLUE); seat >= 0 && seat < len(OwnerLetters) {
		return seat
	}
	return -1
}

// SameCell reports whether two cells are the same.
func SameCell(a, b *pb.Cell) bool {
	return a != nil && b != nil && a.GetX() == b.GetX() && a.GetY() == b.GetY()
}

func containsCell(cells []*pb.Cell, c *pb.Cell) bool {
	return slices.ContainsFunc(cells, func(o *pb.Cell) bool { return SameCell(o, c) })
}

// drawMini draws the board at a mini size. The cursor is a cell in a different color.
func (p Tribolo) drawMini(c Size, t ui.Theme) string {
	width, height := p.Measure(c)
	canvas, columns := ui.NewCanvas(width, height), int(p.Board.GetColumns())
	for i, state := range p.Board.GetCells() {
		row, column := i/columns, i%columns
		canvas.Fill(image.Rect(column*c.Width, row*c.Pitch, (column+1)*c.Width, (row+1)*c.Pitch), p.paint(i, SeatOf(state), t))
	}
	return canvas.Render()
}

// paint returns the color of cell i of a mini board. seat is its owner, or -1.
func (p Tribolo) paint(i, seat int, t ui.Theme) color.Color {
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
	case SameCell(p.Jump.GetCell(), at) || containsCell(p.Jump.GetTaken(), at):
		return colors.Fresh[seat].Ground
	default:
		return colors.Owners[seat].Ground
	}
}
