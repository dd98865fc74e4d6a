package picture

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"

	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// Poster is what a picture shows: a board and, beside it, text.
type Poster struct {
	Title, About string
	// Lines are names or sentences. A poster shows maxLines of them. Those of the seats of a game of
	// Tribolo come first, in the colors of their cells. Scored is set if the first line is a score,
	// which is large.
	Lines  []string
	Scored bool
	// Foot says what a visitor finds at the link. Live marks it as happening now.
	Foot string
	Live bool
	// Position is that of a game, or nil for a board with all tiles up to 2048, which no challenge
	// begins with.
	Position *pb.Position
}

// Version identifies the content of a poster.
func (p Poster) Version() string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%q %q %q %q %v %v %v", p.Title, p.About, p.Lines, p.Foot, p.Live,
		p.Position.GetTwenty48().GetTiles(), p.Position.GetTribolo().GetCells()))
	return hex.EncodeToString(sum[:6])
}

// maxLines is the number of lines on a poster. The last one says how many more there are.
const maxLines = 4

// allTiles is the board of a poster without a game.
var allTiles = &pb.Twenty48Board{Rows: 4, Columns: 4, Tiles: []int32{0, 0, 0, 2, 0, 0, 4, 8, 128, 64, 32, 16, 256, 512, 1024, 2048}}

// Draw writes a poster as a PNG file.
func Draw(w io.Writer, p Poster) error {
	c, board := drawBoard(p.Position)
	x := float64(board + 56)
	width := Width - margin - x
	c.brand(int(x), margin)
	c.line(p.Title, bold, 28, 62, x, 222, width, colors.Text)
	c.line(p.About, medium, 26, 36, x, 276, width, colors.Dim)
	lines := p.Lines
	if len(lines) > maxLines {
		more := fmt.Sprintf("and %d more", len(lines)-maxLines+1)
		lines = append(lines[:maxLines-1:maxLines-1], more)
	}
	for i, line := range lines {
		size, y, ink := 36.0, 348+float64(i)*52, colors.Text
		switch {
		case p.Scored:
			y += 100
			if i == 0 {
				size, ink = 128, colors.Accent
			}
		case p.Position.GetTribolo() != nil && i < len(colors.Fresh):
			ink = colors.Fresh[i].Ground
		}
		c.line(line, medium, 22, size, x, y, width, ink)
	}
	c.state(p.Foot, p.Live, x, Height-margin-2, width, colors.Accent)
	return encoder.Encode(w, c.img)
}

// drawBoard returns a picture with the board of a position, and the board's right edge.
func drawBoard(position *pb.Position) (c *canvas, right int) {
	c = newCanvas()
	if board := position.GetTribolo(); drawable(board.GetRows(), board.GetColumns()) {
		return c, c.cells(board)
	}
	board := position.GetTwenty48()
	if !drawable(board.GetRows(), board.GetColumns()) {
		board = allTiles
	}
	return c, c.tiles(board)
}
