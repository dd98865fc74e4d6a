package picture

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"

	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// Poster is what the picture of a challenge or a player shows: a board and, beside it, text.
type Poster struct {
	Title, About string
	// Lines are names or sentences. A poster shows maxLines of them.
	Lines []string
	// Foot says what a visitor finds at the link. Live marks it as happening now.
	Foot string
	Live bool
	// Board is the board of a game of 2048, or nil for a board with all tiles up to 2048, which no
	// challenge begins with.
	Board *pb.Twenty48Board
}

// Version identifies the content of a poster.
func (p Poster) Version() string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%q %q %q %q %v %v", p.Title, p.About, p.Lines, p.Foot, p.Live, p.Board.GetTiles()))
	return hex.EncodeToString(sum[:6])
}

// maxLines is the number of lines on a poster. The last one says how many more there are.
const maxLines = 4

// allTiles is the board of a poster without a game.
var allTiles = &pb.Twenty48Board{Rows: 4, Columns: 4, Tiles: []int32{0, 0, 0, 2, 0, 0, 4, 8, 128, 64, 32, 16, 256, 512, 1024, 2048}}

// DrawPoster writes a poster as a PNG file.
func DrawPoster(w io.Writer, p Poster) error {
	board := p.Board
	if !drawable(board) {
		board = allTiles
	}
	c, x, width := besideTiles(board)
	c.line(p.Title, bold, 28, 62, x, 222, width, colors.Text)
	c.line(p.About, medium, 26, 36, x, 276, width, colors.Dim)
	lines := p.Lines
	if len(lines) > maxLines {
		more := fmt.Sprintf("and %d more", len(lines)-maxLines+1)
		lines = append(lines[:maxLines-1:maxLines-1], more)
	}
	for i, line := range lines {
		c.line(line, medium, 26, 36, x, 348+float64(i)*52, width, colors.Text)
	}
	c.state(p.Foot, p.Live, x, Height-margin-2, width, colors.Accent)
	return encoder.Encode(w, c.img)
}
