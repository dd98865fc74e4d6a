package main

import "fmt"

// blocks are the block elements as x, y, width and height, in parts of a cell.
var blocks = map[string][4]float64{
	"█": {0, 0, 1, 1}, "▀": {0, 0, 1, 0.5}, "▄": {0, 0.5, 1, 0.5}, "▌": {0, 0, 0.5, 1}, "▐": {0.5, 0, 0.5, 1},
}

// Strokes of box drawing, as paths: arguments 1 and 2 are the middle of the cell, 3
// and 4 its width and height.
const (
	across    = "M0 %[2]gH%[3]g"
	upright   = "M%[1]g 0V%[4]g"
	leftHalf  = "M0 %[2]gH%[1]g"
	rightHalf = "M%[1]g %[2]gH%[3]g"
	upperHalf = "M%[1]g 0V%[2]g"
	lowerHalf = "M%[1]g %[2]gV%[4]g"
)

var strokes = map[string]string{
	"─": across, "│": upright, "┼": across + upright,
	"├": upright + rightHalf, "┤": upright + leftHalf, "┬": across + lowerHalf, "┴": across + upperHalf,
	"┌": lowerHalf + rightHalf, "┐": lowerHalf + leftHalf, "└": upperHalf + rightHalf, "┘": upperHalf + leftHalf,
	"╭": "M%[1]g %[4]gQ%[1]g %[2]g %[3]g %[2]g", "╮": "M%[1]g %[4]gQ%[1]g %[2]g 0 %[2]g",
	"╰": "M%[1]g 0Q%[1]g %[2]g %[3]g %[2]g", "╯": "M%[1]g 0Q%[1]g %[2]g 0 %[2]g",
}

// heavy are the heavy strokes.
var heavy = map[string]string{
	"━": across, "┃": upright,
	"┏": lowerHalf + rightHalf, "┓": lowerHalf + leftHalf, "┗": upperHalf + rightHalf, "┛": upperHalf + leftHalf,
}

// rect draws a rectangle without blurred edges, so that no line shows between two.
func rect(x, y, width, height float64, colour string) string {
	return fmt.Sprintf(`<rect x="%.1f" y="%.1f" width="%.1f" height="%.1f" shape-rendering="crispEdges" fill="%s"/>`,
		x, y, width, height, colour)
}

// shape draws a glyph that must join its neighbours, with the upper left corner of
// its cell at x, y. It reports false for a glyph that is written as text.
func shape(glyph, colour string, x, y float64) (string, bool) {
	const w, h = cellWidth, cellHeight
	if b, ok := blocks[glyph]; ok {
		return rect(x+b[0]*w, y+b[1]*h, b[2]*w, b[3]*h, colour), true
	}
	extra := ""
	s, ok := strokes[glyph]
	if !ok {
		s, ok = heavy[glyph]
		extra = ` stroke-width="2.5"`
		if s != across && s != upright {
			extra += ` stroke-linecap="square"` // fills the corner
		}
	}
	if !ok {
		return "", false
	}
	return fmt.Sprintf(`<path transform="translate(%.1f %.1f)" d="%s" fill="none" stroke="%s"%s/>`,
		x, y, fmt.Sprintf(s, w/2, h/2, w, h), colour, extra), true
}
