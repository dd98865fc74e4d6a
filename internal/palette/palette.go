// Package palette defines the colors that terminals, the web page and pictures share.
package palette

import (
	"fmt"
	"image/color"
	"math/bits"
	"strconv"
	"strings"
)

// Tone is the pair of colors of a tile: its background (Ground) and its number (Ink).
type Tone struct{ Ground, Ink color.Color }

// Palette is the set of colors for a dark or a light background. A terminal with fewer colors has its own, in
// which a color is nil if it is the terminal's.
type Palette struct {
	// Tiles are the tones of the tiles from 2 to 131072, by exponent minus one. Small tiles have
	// cool colors, large ones have warm colors, and 2048 is gold. Tiles above 2048 have a light
	// background in the dark palette and a dark one in the light palette.
	Tiles [17]Tone
	// Owners holds the tones of the seats' cells: blue, red and green. Fresh holds the tones of the
	// cells of the last jump.
	Owners, Fresh [3]Tone
	// Ground is the page's background, and Text the color of text on it. Terminals use their own
	// colors instead.
	Ground, Text color.Color
	// Board fills the gaps between cells, and Empty the cells without a tile.
	Board, Empty color.Color
	// Card is the background of the scores in a terminal. PageCard is the background of panels on
	// the page, whose labels are smaller and need more contrast.
	Card, PageCard color.Color
	// Dim is for labels, and Faint for lines.
	Dim, Faint color.Color
	// Accent is for keys and titles; Good, Warn and Bad are for good news, warnings and errors.
	Accent, Good, Warn, Bad color.Color
}

// Tile returns the tone of the tile with the given value. Values below the first tile use the tone
// of the first, and values above the last use that of the last.
func (p *Palette) Tile(face int32) Tone {
	return p.Tiles[min(max(bits.Len32(uint32(face))-2, 0), len(p.Tiles)-1)]
}

// Dark is the palette for a dark background.
var Dark = Palette{
	Tiles: [17]Tone{
		tone("#4b5267", "#e4e8f2"), // 2
		tone("#5a6e98", "#f0f4fc"), // 4
		tone("#3974b2", "#f4f9ff"), // 8
		tone("#217d8d", "#effcff"), // 16
		tone("#258261", "#effff8"), // 32
		tone("#93bd3e", "#17220a"), // 64
		tone("#e6a33c", "#2e1c04"), // 128
		tone("#e27a3a", "#2b1002"), // 256
		tone("#c34245", "#fff1f0"), // 512
		tone("#b63d93", "#fff0fb"), // 1024
		tone("#ffd54a", "#3a2a00"), // 2048
		tone("#efe3ff", "#6526a8"), // 4096
		tone("#d8e8ff", "#1c43a8"), // 8192
		tone("#cff5e2", "#05603f"), // 16384
		tone("#fdeec2", "#8a4308"), // 32768
		tone("#ffe0df", "#a01c1c"), // 65536
		tone("#ffffff", "#12151d"), // 131072
	},
	Owners: [3]Tone{tone("#2e6dcd", "#eef5ff"), tone("#c23b45", "#fff0f0"), tone("#348240", "#f0fff2")},
	Fresh:  [3]Tone{tone("#8cc0ff", "#06244f"), tone("#ff9c9c", "#4d060b"), tone("#9be7a4", "#06350e")},
	Ground: hex("#16181f"), Text: hex("#e4e8f2"),
	Board: hex("#242833"), Empty: hex("#313643"),
	Card: hex("#242833"), PageCard: hex("#1f232d"),
	Dim: hex("#8b93a9"), Faint: hex("#4a5165"),
	Accent: hex("#ffd54a"), Good: hex("#63d297"),
	Warn: hex("#f0b44c"), Bad: hex("#f27a76"),
}

// Light is the palette for a light background.
var Light = Palette{
	Tiles: [17]Tone{
		tone("#f7f8fb", "#3d4559"), // 2
		tone("#cfdcf4", "#253a66"), // 4
		tone("#7fb4ea", "#08294d"), // 8
		tone("#55bccb", "#042f37"), // 16
		tone("#53bf92", "#042d1c"), // 32
		tone("#a9cf4d", "#1c2a05"), // 64
		tone("#f3b14a", "#3a2203"), // 128
		tone("#ee8746", "#371402"), // 256
		tone("#c54246", "#fff4f3"), // 512
		tone("#b83d95", "#fff2fc"), // 1024
		tone("#ffcb1f", "#3a2900"), // 2048
		tone("#5b21a6", "#efe3ff"), // 4096
		tone("#1c3f9c", "#d8e8ff"), // 8192
		tone("#05573a", "#cff5e2"), // 16384
		tone("#7c3c07", "#fdeec2"), // 32768
		tone("#8c1a1a", "#ffe0df"), // 65536
		tone("#12151d", "#ffffff"), // 131072
	},
	Owners: [3]Tone{tone("#5c9bf0", "#031b40"), tone("#ec7076", "#3d0306"), tone("#6cc27a", "#04280a")},
	Fresh:  [3]Tone{tone("#1f4fa8", "#e6f0ff"), tone("#9c1f2a", "#ffecec"), tone("#1f6b2d", "#eaffed")},
	Ground: hex("#f5f7fb"), Text: hex("#232936"),
	Board: hex("#b4bac8"), Empty: hex("#d3d7e1"),
	Card: hex("#e6e9f0"), PageCard: hex("#ffffff"),
	Dim: hex("#636b80"), Faint: hex("#a9afbd"),
	Accent: hex("#9a6700"), Good: hex("#157a48"),
	Warn: hex("#9a6200"), Bad: hex("#bf3135"),
}

// tone returns the Tone with the given colors, in the form #rrggbb.
func tone(ground, ink string) Tone { return Tone{hex(ground), hex(ink)} }

// Hex returns a color in the form #rrggbb.
func Hex(c color.Color) string {
	r, g, b, _ := c.RGBA()
	return fmt.Sprintf("#%02x%02x%02x", r>>8, g>>8, b>>8)
}

// hex parses a color in the form #rrggbb. It panics if s has another form.
func hex(s string) color.Color {
	c, err := strconv.ParseUint(strings.TrimPrefix(s, "#"), 16, 24)
	if err != nil || len(s) != len("#rrggbb") {
		panic("palette: bad color " + s)
	}
	return color.RGBA{R: uint8(c >> 16), G: uint8(c >> 8), B: uint8(c), A: 0xff}
}
