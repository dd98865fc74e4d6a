package picture

import (
	"image"
	"image/color"
	"math"

	"golang.org/x/image/font"
	"golang.org/x/image/font/opentype"
	"golang.org/x/image/math/fixed"
)

// canvas draws anti-aliased shapes into an image with at most 256 colors. Such an image
// needs a quarter of the memory of a full-color image and compresses several times faster.
// Each shape is drawn on a background of a single color, so its edge needs only the steps
// between two colors.
type canvas struct {
	img    *image.Paletted
	colors map[color.Color]uint8
	ramps  map[[2]color.Color][]uint8
}

// Steps between the two colors at the edge of a rounded shape and of text. With these, the palette has
// room for a board with the tiles up to 2048 and the text beside it.
const (
	roundSteps = 5
	textSteps  = 8
)

// newCanvas returns an empty canvas.
func newCanvas() *canvas {
	c := &canvas{
		img:    image.NewPaletted(image.Rect(0, 0, Width, Height), make(color.Palette, 0, 256)),
		colors: map[color.Color]uint8{},
		ramps:  map[[2]color.Color][]uint8{},
	}
	c.index(colors.Ground) // the first color fills the image
	return c
}

// index returns a color's index in the image's palette, adding the color if necessary. If
// the palette is full, it returns the index of the closest color.
func (c *canvas) index(rgb color.Color) uint8 {
	i, ok := c.colors[rgb]
	switch {
	case ok:
		return i
	case len(c.img.Palette) < 256:
		i = uint8(len(c.img.Palette))
		c.img.Palette = append(c.img.Palette, rgb)
	default:
		i = uint8(c.img.Palette.Index(rgb))
	}
	c.colors[rgb] = i
	return i
}

// ramp returns the palette indexes of the steps from one color to another color that is
// drawn over it.
func (c *canvas) ramp(under, over color.Color, steps int) []uint8 {
	key := [2]color.Color{under, over}
	if ramp := c.ramps[key]; len(ramp) == steps+1 {
		return ramp
	}
	ramp := make([]uint8, steps+1)
	from, to := color.RGBAModel.Convert(under).(color.RGBA), color.RGBAModel.Convert(over).(color.RGBA)
	for i := range ramp {
		mix := func(a, b uint8) uint8 { return uint8((int(a)*(steps-i) + int(b)*i + steps/2) / steps) }
		ramp[i] = c.index(color.RGBA{mix(from.R, to.R), mix(from.G, to.G), mix(from.B, to.B), 0xff})
	}
	c.ramps[key] = ramp
	return ramp
}

// round fills a rectangle with rounded corners.
func (c *canvas) round(r image.Rectangle, radius float64, under, over color.Color) {
	ramp := c.ramp(under, over, roundSteps)
	full := ramp[len(ramp)-1]
	corner := int(math.Ceil(radius))
	for y := r.Min.Y; y < r.Max.Y; y++ {
		row := c.img.Pix[c.img.PixOffset(r.Min.X, y):c.img.PixOffset(r.Max.X, y)]
		for i := range row {
			row[i] = full
		}
		// distance from the row's center to the nearest horizontal edge
		inside := float64(min(y-r.Min.Y, r.Max.Y-1-y)) + 0.5
		if inside >= radius {
			continue
		}
		for x := range min(corner, len(row)) {
			covered := radius - math.Hypot(radius-float64(x)-0.5, radius-inside) + 0.5
			step := int(math.Round(min(max(covered, 0), 1) * roundSteps))
			row[x], row[len(row)-1-x] = ramp[step], ramp[step]
		}
	}
}

// text draws a line of text of the given size in pixels that starts at x, with its baseline at y.
func (c *canvas) text(s string, f *opentype.Font, size, x, y float64, under, over color.Color) {
	ramp := c.ramp(under, over, textSteps)
	sized := faceOf(f, size)
	dot := fixed.Point26_6{X: pixels(x), Y: pixels(y)}
	for _, r := range s {
		area, glyph, _, advance, _ := sized.Glyph(dot, r)
		dot.X += advance
		mask, _ := glyph.(*image.Alpha) // nil for a missing glyph, whose area is empty
		visible := area.Intersect(c.img.Rect)
		for row := visible.Min.Y; row < visible.Max.Y; row++ {
			alphas := mask.Pix[mask.PixOffset(visible.Min.X-area.Min.X, row-area.Min.Y):]
			for i := range visible.Dx() {
				if step := (int(alphas[i])*textSteps + 127) / 255; step > 0 {
					c.img.SetColorIndex(visible.Min.X+i, row, ramp[step])
				}
			}
		}
	}
}

// widthOf returns the width of a line of text.
func widthOf(s string, f *opentype.Font, size float64) float64 {
	return float64(font.MeasureString(faceOf(f, size), s)) / 64
}

// faceOf returns a font in the given size in pixels.
func faceOf(f *opentype.Font, size float64) font.Face {
	face, _ := opentype.NewFace(f, &opentype.FaceOptions{Size: size, DPI: 72}) // does not fail
	return face
}

// fit returns the largest font size, up to most, at which a line of text is no wider than
// width.
func fit(s string, f *opentype.Font, most, width float64) float64 {
	return min(most, most*width/max(widthOf(s, f, most), 1))
}

// shorten returns a line of text that is no wider than width. If it must truncate the
// text, it adds an ellipsis.
func shorten(s string, f *opentype.Font, size, width float64) string {
	if widthOf(s, f, size) <= width {
		return s
	}
	runes := []rune(s)
	for len(runes) > 0 && widthOf(string(runes)+"…", f, size) > width {
		runes = runes[:len(runes)-1]
	}
	return string(runes) + "…"
}

// line draws a line of text that starts at x. It uses the largest font size between least
// and most at which the text fits in width. If the text does not fit even at the smallest
// size, line truncates it.
func (c *canvas) line(s string, f *opentype.Font, least, most, x, y, width float64, ink color.Color) {
	size := max(fit(s, f, most, width), least)
	c.text(shorten(s, f, size, width), f, size, x, y, colors.Ground, ink)
}

// pixels converts a number of pixels to the fixed-point numbers of package font.
func pixels(n float64) fixed.Int26_6 { return fixed.Int26_6(math.Round(n * 64)) }
