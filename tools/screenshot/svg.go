package main

import (
	"cmp"
	"fmt"
	"html"
	"image/color"
	"strings"

	uv "github.com/charmbracelet/ultraviolet"
)

// Sizes, in the picture's units.
const (
	cellWidth  = 8.0
	cellHeight = 16.0
	fontSize   = 13
	padding    = 14.0
	titleBar   = 30.0
	gap        = 16.0
)

// The default colors.
const (
	ground  = "#16181d"
	ink     = "#d7dae0"
	bar     = "#24272e"
	barInk  = "#8b919c"
	buttons = "#3b4049"
)

// window is one terminal: its title and its screen.
type window struct {
	title string
	lines []uv.Line
}

// size returns the size of w in the picture.
func (w window) size() (width, height float64) {
	columns := 0
	for _, line := range w.lines {
		columns = max(columns, len(line))
	}
	return float64(columns)*cellWidth + 2*padding, float64(len(w.lines))*cellHeight + 2*padding + titleBar
}

// draw returns an SVG of the windows, from left to right.
func draw(windows []window) string {
	var body strings.Builder
	x, height := 0.0, 0.0
	for _, w := range windows {
		width, h := w.size()
		fmt.Fprintf(&body, `<g transform="translate(%.1f 0)">`+"\n", x)
		frame(&body, w.title, width, h)
		fmt.Fprintf(&body, `<g transform="translate(%.1f %.1f)">`+"\n", padding, titleBar+padding)
		for row, line := range w.lines {
			drawBacks(&body, line, float64(row)*cellHeight)
			drawGlyphs(&body, line, float64(row)*cellHeight)
		}
		body.WriteString("</g>\n</g>\n")
		x += width + gap
		height = max(height, h)
	}
	return fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %.1f %.1f" width="%.0f" `+
		`font-family="ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace" font-size="%d">`+"\n%s</svg>\n",
		x-gap, height, x-gap, fontSize, body.String())
}

func frame(b *strings.Builder, title string, width, height float64) {
	fmt.Fprintf(b, `<rect width="%.1f" height="%.1f" rx="9" fill="%s"/>`+"\n", width, height, bar)
	fmt.Fprintf(b, `<path d="M0 %.1fH%.1fV%.1fa9 9 0 0 1 -9 9H9a9 9 0 0 1 -9 -9z" fill="%s"/>`+"\n",
		titleBar, width, height-9, ground)
	for i := range 3 {
		fmt.Fprintf(b, `<circle cx="%d" cy="15" r="5" fill="%s"/>`+"\n", 18+16*i, buttons)
	}
	fmt.Fprintf(b, `<text x="%.1f" y="20" text-anchor="middle" font-size="13" fill="%s">%s</text>`+"\n",
		width/2, barInk, html.EscapeString(title))
}

// drawBacks draws the backgrounds of one row of a screen.
func drawBacks(b *strings.Builder, line uv.Line, y float64) {
	for start := 0; start < len(line); {
		_, back := colors(line[start].Style)
		end := start + 1
		for end < len(line) {
			if _, next := colors(line[end].Style); next != back {
				break
			}
			end++
		}
		if back != ground {
			fmt.Fprintln(b, rect(float64(start)*cellWidth, y, float64(end-start)*cellWidth, cellHeight, back))
		}
		start = end
	}
}

// drawGlyphs draws the text of one row of a screen.
func drawGlyphs(b *strings.Builder, line uv.Line, y float64) {
	for start := 0; start < len(line); {
		cell := line[start]
		x, end := float64(start)*cellWidth, start+max(cell.Width, 1)
		front, _ := colors(cell.Style)
		for wide(cell.Content) && end < len(line) && line[end].Equal(&cell) {
			end++
		}
		if drawn, ok := shape(cell.Content, front, x, y, end-start); ok {
			fmt.Fprintln(b, drawn)
		} else {
			for end < len(line) && isText(line[end]) && line[end].Style.Equal(&cell.Style) {
				end += max(line[end].Width, 1)
			}
			drawText(b, line[start:min(end, len(line))], x, y)
		}
		start = end
	}
}

func isText(c uv.Cell) bool {
	_, drawn := shape(c.Content, "", 0, 0, 1)
	return !drawn
}

// drawText draws cells of one style. It places each word separately at its first cell,
// because the width of a space differs between fonts.
func drawText(b *strings.Builder, cells []uv.Cell, x, y float64) {
	for start := 0; start < len(cells); {
		end := start
		var word strings.Builder
		for end < len(cells) && cells[end].Content != " " && cells[end].Content != "" {
			word.WriteString(cells[end].Content)
			end += max(cells[end].Width, 1)
		}
		if end > start {
			drawWord(b, word.String(), cells[start].Style, x+float64(start)*cellWidth, y, float64(end-start)*cellWidth)
		}
		start = max(end, start+1)
	}
}

func drawWord(b *strings.Builder, word string, style uv.Style, x, y, width float64) {
	front, _ := colors(style)
	extra := ""
	if style.Attrs&uv.AttrBold != 0 {
		extra += ` font-weight="bold"`
	}
	if style.Attrs&uv.AttrFaint != 0 {
		extra += ` opacity="0.6"`
	}
	fmt.Fprintf(b, `<text x="%.1f" y="%.1f" textLength="%.1f" lengthAdjust="spacingAndGlyphs" fill="%s"%s>%s</text>`+"\n",
		x, y+cellHeight*0.76, width, front, extra, html.EscapeString(word))
}

// colors returns the foreground and the background of a style.
func colors(s uv.Style) (front, back string) {
	front, back = cmp.Or(hex(s.Fg), ink), cmp.Or(hex(s.Bg), ground)
	if s.Attrs&uv.AttrReverse != 0 {
		return back, front
	}
	return front, back
}

func hex(c color.Color) string {
	if c == nil {
		return ""
	}
	r, g, b, _ := c.RGBA()
	return fmt.Sprintf("#%02x%02x%02x", r>>8, g>>8, b>>8)
}
