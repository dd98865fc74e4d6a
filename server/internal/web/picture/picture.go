// Package picture draws pictures for link previews.
package picture

import (
	"image"
	"image/color"
	"image/png"
	"sync"

	"github.com/gridstand/gridstand/internal/palette"
)

// The size of a picture in pixels, which is the size that sites and messengers expect for
// link previews.
const (
	Width  = 1200
	Height = 630
)

// margin is the space around the board and the text, in pixels.
const margin = 48

// colors are the colors used in all pictures.
var colors = &palette.Dark

// encoder encodes PNG files. It favors speed over file size, because a picture of a live
// game is soon outdated.
var encoder = png.Encoder{CompressionLevel: png.BestSpeed, BufferPool: new(bufferPool)}

// drawable reports whether a board's dimensions are valid.
func drawable(rows, columns int32) bool { return min(rows, columns) > 0 && max(rows, columns) <= 64 }

// brand draws the program's icon and name, with their top edges at y.
func (c *canvas) brand(x, y int) {
	const side, size = 48, 36
	c.round(image.Rect(x, y, x+side, y+side), 10, colors.Ground, colors.Board)
	const cell, gap = side * 35 / 100, side / 18
	const inset = (side - 2*cell - gap) / 2
	for i, tile := range iconColors {
		at := image.Pt(x+inset, y+inset).Add(image.Pt(i%2, i/2).Mul(cell + gap))
		c.round(image.Rectangle{Min: at, Max: at.Add(image.Pt(cell, cell))}, cell*0.24, colors.Board, tile)
	}
	c.text("Gridstand", bold, size, float64(x)+side+14, float64(y)+side/2+size*capHeight/2, colors.Ground, colors.Text)
}

// The colors of the icon, which is a board with three tiles. The icons in the directory site of package web
// show the same.
var iconColors = [4]color.Color{colors.Tile(8).Ground, colors.Empty, colors.Tile(256).Ground, colors.Tile(2048).Ground}

// tile draws a square cell of a board with a label in its middle, whose font size is at most the given
// share of the cell's side.
func (c *canvas) tile(area image.Rectangle, radius float64, tone palette.Tone, label string, most float64) {
	c.round(area, radius, colors.Board, tone.Ground)
	cell := float64(area.Dx())
	size := fit(label, bold, cell*most, cell*0.76)
	x := float64(area.Min.X) + (cell-widthOf(label, bold, size))/2
	c.text(label, bold, size, x, float64(area.Min.Y)+cell/2+size*capHeight/2, tone.Ground, tone.Ink)
}

// state draws a line of text with its baseline at y. If it says that something is live, the line begins
// with a dot and has another color.
func (c *canvas) state(words string, live bool, x, y, width float64, ink color.Color) {
	const size, dot = 34, 20
	if live {
		ink = colors.Good
		top := int(y - size*capHeight/2 - dot/2)
		c.round(image.Rect(int(x), top, int(x)+dot, top+dot), dot/2, colors.Ground, ink)
		x, width = x+dot+12, width-dot-12
	}
	c.line(words, bold, 22, size, x, y, width, ink)
}

// bufferPool pools the encoder's buffers.
type bufferPool struct{ sync.Pool }

// Get implements png.EncoderBufferPool.
func (p *bufferPool) Get() *png.EncoderBuffer {
	b, _ := p.Pool.Get().(*png.EncoderBuffer)
	return b
}

// Put implements png.EncoderBufferPool.
func (p *bufferPool) Put(b *png.EncoderBuffer) { p.Pool.Put(b) }
