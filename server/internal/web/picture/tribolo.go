package picture

import (
	"image"

	"github.com/gridstand/gridstand/internal/describe"
	"github.com/gridstand/gridstand/internal/palette"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// drawTribolo draws a game of Tribolo, with the board on the left and the seats on the
// right.
func drawTribolo(g *pb.Game) *canvas {
	c := newCanvas(Width, Height, colors.Ground, 26, 16, 12)
	board := c.cells(g.GetPosition().GetTribolo())

	x := float64(board.Max.X + 44)
	width := Width - margin - x
	c.brand(int(x), board.Min.Y)
	variant := describe.Variant(g)
	c.line(variant, medium, 26, 36, x, float64(board.Min.Y)+108, width, colors.Dim)
	for i, seat := range g.GetSeats() {
		if i >= len(colors.Owners) {
			break
		}
		c.seat(g, i, seat, int(x), board.Min.Y+142+i*82, int(width))
	}
	moves := describe.Standing(g)
	c.text(moves, medium, 34, x, float64(board.Max.Y)-54, left, colors.Ground, colors.Dim)
	c.stage(g, x, float64(board.Max.Y)-4, width)
	return c
}

// seat draws a seat's score in the color of its cells, followed by the name.
func (c *canvas) seat(g *pb.Game, i int, seat *pb.Seat, x, y, width int) {
	const high, wide = 66, 92
	tone := colors.Owners[i]
	c.round(image.Rect(x, y, x+wide, y+high), 10, colors.Ground, tone.Ground)
	score := describe.Comma(describe.Score(g, i))
	size := fit(score, bold, 42, wide-20)
	c.text(score, bold, size, float64(x)+wide/2, float64(y)+high/2+size*capHeight/2, middle, tone.Ground, tone.Ink)

	name, ink := describe.Seat(seat), colors.Text
	if seat.GetOpen() != nil || seat.GetResigned() {
		ink = colors.Dim
	}
	c.line(name, bold, 26, 36, float64(x)+wide+18, float64(y)+high/2+36*capHeight/2, float64(width)-wide-18, ink)
}

// cells draws a Tribolo board, and returns the area that it covers.
func (c *canvas) cells(board *pb.TriboloBoard) image.Rectangle {
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
			c.owned(area, colors.Owners[seat], "BRG"[seat:seat+1])
		case state == pb.CellState_CELL_STATE_WALL:
			c.round(area, 6, colors.Board, colors.Faint)
		default:
			c.round(area, 6, colors.Board, colors.Empty)
		}
	}
	return frame
}

// owned draws a cell that a seat owns, marked with the letter of the seat's color.
func (c *canvas) owned(area image.Rectangle, tone palette.Tone, letter string) {
	c.round(area, 6, colors.Board, tone.Ground)
	cell := float64(area.Dx())
	size := cell * 0.56
	c.text(letter, bold, size, float64(area.Min.X)+cell/2, float64(area.Min.Y)+cell/2+size*capHeight/2, middle, tone.Ground, tone.Ink)
}
