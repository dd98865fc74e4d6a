package picture

import (
	"image"

	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// cells draws a Tribolo board, and returns its right edge.
func (c *canvas) cells(board *pb.TriboloBoard) int {
	rows, columns := int(board.GetRows()), int(board.GetColumns())
	const gap = 4
	pitch := min(700/columns, (Height-2*margin)/rows)
	cell := pitch - gap
	size := image.Pt(columns*pitch+3*gap, rows*pitch+3*gap)
	frame := image.Rectangle{Max: size}.Add(image.Pt(margin, (Height-size.Y)/2))
	c.round(frame, 14, colors.Ground, colors.Board)
	for i := range rows * columns {
		x, y := frame.Min.X+2*gap+i%columns*pitch, frame.Min.Y+2*gap+i/columns*pitch
		area := image.Rect(x, y, x+cell, y+cell)
		state := pb.CellState_CELL_STATE_EMPTY
		if i < len(board.GetCells()) {
			state = board.GetCells()[i]
		}
		seat := int(state - pb.CellState_CELL_STATE_BLUE)
		switch {
		case seat >= 0 && seat < len(colors.Owners):
			c.tile(area, 6, colors.Owners[seat], "BRG"[seat:seat+1], 0.56)
		case state == pb.CellState_CELL_STATE_WALL:
			c.round(area, 6, colors.Board, colors.Faint)
		default:
			c.round(area, 6, colors.Board, colors.Empty)
		}
	}
	return frame.Max.X
}
