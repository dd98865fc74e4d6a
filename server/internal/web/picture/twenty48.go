package picture

import (
	"image"
	"strconv"

	"github.com/gridstand/gridstand/internal/describe"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// drawTwenty48 draws a game of 2048, with the board on the left and the text on the
// right.
func drawTwenty48(g *pb.Game) *canvas {
	c, x, width := besideTiles(g.GetPosition().GetTwenty48())
	name := describe.Players(g)
	c.line(name, bold, 36, 62, x, 222, width, colors.Text)
	variant := describe.Variant(g)
	c.line(variant, medium, 36, 36, x, 276, width, colors.Dim)

	score := describe.Comma(describe.Score(g, 0))
	size := fit(score, bold, 128, width)
	c.text(score, bold, size, x-size*0.04, 440, left, colors.Ground, colors.Accent)
	standing := describe.Standing(g)
	c.line(standing, medium, 26, 36, x, 500, width, colors.Dim)
	c.stage(g, x, Height-margin-2, width)
	return c
}

// besideTiles returns a picture with a 2048 board and the program's name, and the place for text on the
// right of the board: its left edge and its width.
func besideTiles(board *pb.Twenty48Board) (c *canvas, x, width float64) {
	faces := map[int32]bool{}
	for _, face := range board.GetTiles() {
		faces[face] = true
	}
	n := len(faces)
	c = newCanvas(Width, Height, colors.Ground, 2*n+11, n+10, n+6)
	x = float64(margin + c.tiles(board) + 56)
	c.brand(int(x), margin)
	return c, x, Width - margin - x
}

// tiles draws a 2048 board, and returns the board's width.
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
		tone := colors.Tile(face)
		c.round(area, radius, colors.Board, tone.Ground)
		number := strconv.Itoa(int(face))
		size := fit(number, bold, float64(cell)*0.46, float64(cell)*0.76)
		c.text(number, bold, size, float64(x)+float64(cell)/2, float64(y)+float64(cell)/2+size*capHeight/2, middle, tone.Ground, tone.Ink)
	}
	return columns*pitch + gap
}
