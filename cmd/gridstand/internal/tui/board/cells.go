package board

import (
	"image"
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

// drawMini draws the board at a mini size: the colors of larger cells, but without text. The cursor, walls and
// legal targets have colors of their own.
func (p Tribolo) drawMini(c Size, t ui.Theme) string {
	width, height := p.Measure(c)
	// Of cells with two rows, no color depends on the row.
	d := triboloDrawing{Tribolo: p, Canvas: ui.NewCanvas(width, height), theme: t, cell: Size{Pitch: 2}, colors: t.Colors()}
	columns := int(p.Board.GetColumns())
	for i, state := range p.Board.GetCells() {
		at := &pb.Cell{X: int32(i % columns), Y: int32(i / columns)}
		paint := d.face(i, at).Ground
		switch {
		case SameCell(p.Cursor, at):
			paint = d.colors.Tile(2048).Ground
		case state == pb.CellState_CELL_STATE_WALL:
			paint = d.colors.Dim
		case p.Hints && MoveTo(p.Board, at) != nil:
			paint = d.colors.Faint
		}
		d.Fill(image.Rect(0, 0, c.Width, c.Pitch).Add(image.Pt(int(at.GetX())*c.Width, int(at.GetY())*c.Pitch)), paint)
	}
	return d.Render()
}
