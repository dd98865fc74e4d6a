package main

import "fmt"

// blocks maps block elements to their x, y, width and height, as fractions of a cell.
var blocks = map[string][4]float64{
	"█": {0, 0, 1, 1}, "▀": {0, 0, 1, 0.5}, "▄": {0, 0.5, 1, 0.5}, "▌": {0, 0, 0.5, 1}, "▐": {0.5, 0, 0.5, 1},
}

// Strokes of box drawing characters, as paths. Arguments 1 and 2 are the center of the cell,
// 3 and 4 its width and height.
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

// heavy maps heavy box drawing characters to their strokes.
var heavy = map[string]string{
	"━": across, "┃": upright,
	"┏": lowerHalf + rightHalf, "┓": lowerHalf + leftHalf, "┗": upperHalf + rightHalf, "┛": upperHalf + leftHalf,
}

// rect draws a rectangle with sharp edges, so that no line shows between adjacent ones.
func rect(x, y, width, height float64, color string) string {
	return fmt.Sprintf(`<rect x="%.1f" y="%.1f" width="%.1f" height="%.1f" shape-rendering="crispEdges" fill="%s"/>`,
		x, y, width, height, color)
}

// wide reports whether a row of equal glyphs can be drawn as one wide shape.
func wide(glyph string) bool {
	return blocks[glyph][2] == 1 || strokes[glyph] == across || heavy[glyph] == across
}

// shape draws a glyph that must join its neighbors, across one or, for a wide glyph, several cells.
// (x, y) is the upper left corner of the first cell. shape returns false for a glyph that is drawn
// as text.
func shape(glyph, color string, x, y float64, cells int) (string, bool) {
	const h = cellHeight
	w := float64(cells) * cellWidth
	if b, ok := blocks[glyph]; ok {
		return rect(x+b[0]*w, y+b[1]*h, b[2]*w, b[3]*h, color), true
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
		x, y, fmt.Sprintf(s, w/2, h/2, w, h), color, extra), true
}
