package picture

import (
	"image"
	"strconv"

	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// tiles draws a 2048 board, and returns its right edge.
func (c *canvas) tiles(board *pb.Twenty48Board) int {
	rows, columns := int(board.GetRows()), int(board.GetColumns())
	most := max(rows, columns)
	gap := 60 / (most + 1)
	cell := (Height - 2*margin - (most+1)*gap) / most
	pitch := cell + gap
	top := (Height - rows*pitch - gap) / 2
	radius := float64(cell) * 0.09
	c.round(image.Rect(margin, top, margin+columns*pitch+gap, top+rows*pitch+gap), radius+float64(gap), colors.Ground, colors.Board)
	for i := range rows * columns {
		x, y := margin+gap+i%columns*pitch, top+gap+i/columns*pitch
		area := image.Rect(x, y, x+cell, y+cell)
		if i >= len(board.GetTiles()) || board.GetTiles()[i] <= 0 {
			c.round(area, radius, colors.Board, colors.Empty)
			continue
		}
		face := board.GetTiles()[i]
		c.tile(area, radius, colors.Tile(face), strconv.Itoa(int(face)), 0.46)
	}
	return margin + columns*pitch + gap
}
