package ui

import (
	"image"
	"image/color"
	"slices"
	"strings"

	"charm.land/lipgloss/v2"
	uv "github.com/charmbracelet/ultraviolet"
	"github.com/charmbracelet/x/ansi"
)

// Canvas is a grid of pixels that are one column wide and half a row high, and so nearly
// square, with text on top. Two pixels share one character, which is drawn as a half block
// in their two colors.
type Canvas struct {
	width, rows int
	// colors are the canvas's colors. Pixels and text refer to them by index, which compares
	// faster than a color.Color. The first two are nil and Foreground.
	colors []color.Color
	pixels []uint16
	text   []glyph
}

// Indexes of the terminal's own background and text color in Canvas.colors.
const (
	background = iota
	foreground
)

// glyph is one character on a canvas and its style.
type glyph struct {
	char rune // 0 if there is no text
	look
}

// look is the style of a glyph.
type look struct {
	ink, ground uint16
	bold        bool
}

// Foreground is the terminal's own text color.
var Foreground color.Color = lipgloss.NoColor{}

// NewCanvas returns an empty canvas of the given size in columns and rows.
func NewCanvas(width, rows int) *Canvas {
	return &Canvas{width, rows, []color.Color{nil, Foreground}, make([]uint16, width*rows*2), make([]glyph, width*rows)}
}

// index returns the index of a color in c.colors, and adds the color if it is new.
func (c *Canvas) index(paint color.Color) uint16 {
	i := slices.Index(c.colors, paint)
	if i < 0 {
		i = len(c.colors)
		c.colors = append(c.colors, paint)
	}
	return uint16(i)
}

// Fill paints a rectangle. Its y coordinates are in pixels, two per row.
func (c *Canvas) Fill(r image.Rectangle, paint color.Color) {
	r = r.Intersect(image.Rect(0, 0, c.width, c.rows*2))
	i := c.index(paint)
	for y := r.Min.Y; y < r.Max.Y; y++ {
		for x := r.Min.X; x < r.Max.X; x++ {
			c.pixels[y*c.width+x] = i
		}
	}
}

// Write puts text at a column and row, and clips what does not fit. All characters of text
// must be one column wide.
func (c *Canvas) Write(x, row int, text string, ink color.Color, bold bool) {
	i := c.index(ink)
	for _, char := range text {
		if image.Pt(x, row).In(image.Rect(0, 0, c.width, c.rows)) {
			c.text[row*c.width+x] = glyph{char, look{ink: i, bold: bold}}
		}
		x++
	}
}

// Render returns the canvas as lines of text with terminal escape sequences.
func (c *Canvas) Render() string {
	var out strings.Builder
	escapes := map[look]string{{}: ""} // there are few, and one takes long to write
	for row := range c.rows {
		if row > 0 {
			out.WriteByte('\n')
		}
		var pen look
		for x := range c.width {
			next := c.at(x, row)
			if next.look != pen {
				escape, ok := escapes[next.look]
				if !ok {
					escape = c.escape(next.look)
					escapes[next.look] = escape
				}
				out.WriteString(ansi.ResetStyle)
				out.WriteString(escape)
				pen = next.look
			}
			out.WriteRune(next.char)
		}
		out.WriteString(ansi.ResetStyle)
	}
	return out.String()
}

// at returns the character at a column and row.
func (c *Canvas) at(x, row int) glyph {
	upper, lower := c.pixels[row*2*c.width+x], c.pixels[(row*2+1)*c.width+x]
	g := c.text[row*c.width+x]
	switch {
	case g.char != 0:
		g.ground = lower
	case upper == lower && upper == foreground:
		g.char = '█'
	case upper == lower:
		g = glyph{' ', look{ground: upper}}
	case lower == background:
		g = glyph{'▀', look{ink: upper}}
	default:
		g = glyph{'▄', look{ink: lower, ground: upper}}
	}
	if g.ink == foreground {
		g.ink = 0 // needs no escape sequence
	}
	return g
}

// escape returns the sequence that starts text in a style.
func (c *Canvas) escape(l look) string {
	style := uv.Style{Fg: c.colors[l.ink], Bg: c.colors[l.ground]}
	if l.bold {
		style.Attrs = uv.AttrBold
	}
	return style.String()
}

// letters maps each character that a name may contain to its glyph: five rows of three
// pixels. Each row is an octal digit.
var letters = map[rune]int{
	'A': 0o25755, 'B': 0o65656, 'C': 0o34443, 'D': 0o65556, 'E': 0o74647,
	'F': 0o74644, 'G': 0o34553, 'H': 0o55755, 'I': 0o72227, 'J': 0o11152,
	'K': 0o55655, 'L': 0o44447, 'M': 0o57755, 'N': 0o65555, 'O': 0o25552,
	'P': 0o65644, 'Q': 0o25573, 'R': 0o65655, 'S': 0o34216, 'T': 0o72222,
	'U': 0o55557, 'V': 0o55552, 'W': 0o55775, 'X': 0o55255, 'Y': 0o55222,
	'Z': 0o71247, '0': 0o75557, '1': 0o26227, '2': 0o61247, '3': 0o61216,
	'4': 0o55711, '5': 0o74616, '6': 0o34757, '7': 0o71222, '8': 0o75757,
	'9': 0o75716, '-': 0o00700, '_': 0o00007, '.': 0o00002, ',': 0o00024, '!': 0o22202, ' ': 0,
}

// LargeHeight is the height of large text, in rows.
const LargeHeight = 3

// LargeSize returns the width of large text in columns and its height in pixels.
func LargeSize(text string) (width, height int) { return len([]rune(text))*4 - 1, 5 }

// Large draws text in large letters. It returns the text itself if it does not fit in width columns or
// has a character without a glyph, or if the terminal has only ASCII.
func (t Theme) Large(text string, width int) string {
	w, _ := LargeSize(text)
	if text == "" || w > width || t.ASCII {
		return text
	}
	pic := NewCanvas(w, LargeHeight)
	if !pic.Large(0, 0, text, Foreground) {
		return text
	}
	return pic.Render()
}

// Large draws text in large letters, with its upper left corner at column x and pixel y. It
// returns false if the text has a character without a glyph.
func (c *Canvas) Large(x, y int, text string, ink color.Color) bool {
	for i, char := range []rune(strings.ToUpper(text)) {
		rows, ok := letters[char]
		if !ok {
			return false
		}
		for bit := range 15 {
			if rows>>(14-bit)&1 == 1 {
				x, y := x+i*4+bit%3, y+bit/3
				c.Fill(image.Rect(x, y, x+1, y+1), ink)
			}
		}
	}
	return true
}
