package style

import (
	"image"
	"image/color"
	"strings"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"
)

// Canvas is a grid of pixels that are one column wide and half a row high, and so nearly
// square, with text on top. Two pixels share one character, which is drawn as a half block
// in their two colors.
type Canvas struct {
	width, rows int
	pixels      []color.Color // nil for the terminal's own background
	glyphs      []glyph
}

// glyph is one character of text on a canvas.
type glyph struct {
	char rune // 0 if there is no text
	ink  color.Color
	bold bool
}

// Foreground is the terminal's own text color.
var Foreground color.Color = lipgloss.NoColor{}

// NewCanvas returns an empty canvas of the given size in columns and rows.
func NewCanvas(width, rows int) *Canvas {
	return &Canvas{
		width: width, rows: rows,
		pixels: make([]color.Color, width*rows*2),
		glyphs: make([]glyph, width*rows),
	}
}

// Fill paints a rectangle. Its y coordinates are in pixels, two per row.
func (c *Canvas) Fill(r image.Rectangle, paint color.Color) {
	r = r.Intersect(image.Rect(0, 0, c.width, c.rows*2))
	for y := r.Min.Y; y < r.Max.Y; y++ {
		for x := r.Min.X; x < r.Max.X; x++ {
			c.pixels[y*c.width+x] = paint
		}
	}
}

// Write puts text at a column and row, and clips what does not fit. All characters of text
// must be one column wide.
func (c *Canvas) Write(x, row int, text string, ink color.Color, bold bool) {
	if row < 0 || row >= c.rows {
		return
	}
	for _, char := range text {
		if x >= 0 && x < c.width {
			c.glyphs[row*c.width+x] = glyph{char: char, ink: ink, bold: bold}
		}
		x++
	}
}

// String renders the canvas as lines of text with terminal escape sequences.
func (c *Canvas) String() string {
	var out strings.Builder
	for row := range c.rows {
		if row > 0 {
			out.WriteByte('\n')
		}
		var run strings.Builder
		var style span
		for x := range c.width {
			char, next := c.at(x, row)
			if next != style && run.Len() > 0 {
				out.WriteString(style.render(run.String()))
				run.Reset()
			}
			style = next
			run.WriteRune(char)
		}
		out.WriteString(style.render(run.String()))
	}
	return out.String()
}

// span is the style of a run of characters.
type span struct {
	ink, ground color.Color
	bold        bool
}

// render writes the escape sequences itself. lipgloss also handles borders and margins, and
// would take most of the time spent on a frame.
func (l span) render(text string) string {
	var s ansi.Style
	if l.bold {
		s = s.Bold()
	}
	if l.ink != nil && l.ink != Foreground {
		s = s.ForegroundColor(l.ink)
	}
	if l.ground != nil && l.ground != Foreground {
		s = s.BackgroundColor(l.ground)
	}
	if len(s) == 0 {
		return text
	}
	return s.Styled(text)
}

// at returns the character at a column and row, and its style.
func (c *Canvas) at(x, row int) (rune, span) {
	upper, lower := c.pixels[row*2*c.width+x], c.pixels[(row*2+1)*c.width+x]
	if g := c.glyphs[row*c.width+x]; g.char != 0 {
		return g.char, span{ink: g.ink, ground: lower, bold: g.bold}
	}
	switch {
	case upper == lower && upper == Foreground:
		return '█', span{}
	case upper == lower:
		return ' ', span{ground: upper}
	case lower == nil:
		return '▀', span{ink: upper}
	default:
		return '▄', span{ink: lower, ground: upper}
	}
}
