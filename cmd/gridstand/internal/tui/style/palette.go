package style

import (
	"image/color"
	"math/bits"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"
)

// Tone has the colors of a tile: of its ground, and of its number.
type Tone struct{ Ground, Ink color.Color }

// Palette has all colors of the program at one color depth, on a dark or a light
// terminal. They are colors of that depth: a conversion could make two tiles look alike.
type Palette struct {
	// Tiles from 2 to 131072, by exponent minus one. Small ones are cool, large ones hot,
	// 2048 is gold. Larger ones have a light ground in dark themes and a dark one in light
	// themes.
	Tiles [17]Tone
	// Owners are blue, red and green, as a cell's ground and its letter; Fresh is for the
	// cells of the last jump.
	Owners, Fresh [3]Tone
	// Board fills the gaps between cells, Empty the cells without a tile.
	Board, Empty color.Color
	// Card lies under the scores.
	Card color.Color
	// Dim is for labels, Faint for lines.
	Dim, Faint color.Color
	// Accent is for keys and titles, the others for good news, warnings and errors.
	Accent, Good, Warn, Bad color.Color
}

// Tile returns the tone of a tile by its face value.
func (p *Palette) Tile(face int32) Tone {
	i := bits.Len32(uint32(face)) - 2
	return p.Tiles[min(max(i, 0), len(p.Tiles)-1)]
}

// rgb makes a tone of two colors in the form #rrggbb.
func rgb(ground, ink string) Tone {
	return Tone{lipgloss.Color(ground), lipgloss.Color(ink)}
}

// indexed makes a tone of two of the 256 colors.
func indexed(ground, ink ansi.IndexedColor) Tone { return Tone{ground, ink} }

// basic makes a tone of two of the 16 colors.
func basic(ground, ink ansi.BasicColor) Tone { return Tone{ground, ink} }

var trueDark = Palette{
	Tiles: [17]Tone{
		rgb("#4b5267", "#e4e8f2"), // 2
		rgb("#5a6e98", "#f0f4fc"), // 4
		rgb("#3f80c4", "#f4f9ff"), // 8
		rgb("#2793a6", "#effcff"), // 16
		rgb("#2c9c74", "#effff8"), // 32
		rgb("#93bd3e", "#17220a"), // 64
		rgb("#e6a33c", "#2e1c04"), // 128
		rgb("#e27a3a", "#2b1002"), // 256
		rgb("#d6484c", "#fff1f0"), // 512
		rgb("#b63d93", "#fff0fb"), // 1024
		rgb("#ffd54a", "#3a2a00"), // 2048
		rgb("#efe3ff", "#6526a8"), // 4096
		rgb("#d8e8ff", "#1c43a8"), // 8192
		rgb("#cff5e2", "#05603f"), // 16384
		rgb("#fdeec2", "#8a4308"), // 32768
		rgb("#ffe0df", "#a01c1c"), // 65536
		rgb("#ffffff", "#12151d"), // 131072
	},
	Owners: [3]Tone{rgb("#2f6fd0", "#eef5ff"), rgb("#c23b45", "#fff0f0"), rgb("#3d9a4c", "#f0fff2")},
	Fresh:  [3]Tone{rgb("#8cc0ff", "#06244f"), rgb("#ff9c9c", "#4d060b"), rgb("#9be7a4", "#06350e")},
	Board:  lipgloss.Color("#242833"), Empty: lipgloss.Color("#313643"),
	Card: lipgloss.Color("#242833"),
	Dim:  lipgloss.Color("#8b93a9"), Faint: lipgloss.Color("#4a5165"),
	Accent: lipgloss.Color("#ffd54a"), Good: lipgloss.Color("#63d297"),
	Warn: lipgloss.Color("#f0b44c"), Bad: lipgloss.Color("#f27a76"),
}

var trueLight = Palette{
	Tiles: [17]Tone{
		rgb("#f7f8fb", "#3d4559"), // 2
		rgb("#cfdcf4", "#253a66"), // 4
		rgb("#7fb4ea", "#08294d"), // 8
		rgb("#55bccb", "#042f37"), // 16
		rgb("#53bf92", "#042d1c"), // 32
		rgb("#a9cf4d", "#1c2a05"), // 64
		rgb("#f3b14a", "#3a2203"), // 128
		rgb("#ee8746", "#371402"), // 256
		rgb("#dc4a4e", "#fff4f3"), // 512
		rgb("#b83d95", "#fff2fc"), // 1024
		rgb("#ffcb1f", "#3a2900"), // 2048
		rgb("#5b21a6", "#efe3ff"), // 4096
		rgb("#1c3f9c", "#d8e8ff"), // 8192
		rgb("#05573a", "#cff5e2"), // 16384
		rgb("#7c3c07", "#fdeec2"), // 32768
		rgb("#8c1a1a", "#ffe0df"), // 65536
		rgb("#12151d", "#ffffff"), // 131072
	},
	Owners: [3]Tone{rgb("#5c9bf0", "#031b40"), rgb("#ec7076", "#3d0306"), rgb("#6cc27a", "#04280a")},
	Fresh:  [3]Tone{rgb("#1f4fa8", "#e6f0ff"), rgb("#9c1f2a", "#ffecec"), rgb("#1f6b2d", "#eaffed")},
	Board:  lipgloss.Color("#b4bac8"), Empty: lipgloss.Color("#d3d7e1"),
	Card: lipgloss.Color("#e6e9f0"),
	Dim:  lipgloss.Color("#636b80"), Faint: lipgloss.Color("#a9afbd"),
	Accent: lipgloss.Color("#9a6700"), Good: lipgloss.Color("#157a48"),
	Warn: lipgloss.Color("#9a6200"), Bad: lipgloss.Color("#bf3135"),
}

var indexedDark = Palette{
	Tiles: [17]Tone{
		indexed(240, 255), // 2
		indexed(61, 231),  // 4
		indexed(32, 231),  // 8
		indexed(37, 16),   // 16
		indexed(35, 16),   // 32
		indexed(113, 16),  // 64
		indexed(178, 16),  // 128
		indexed(166, 231), // 256
		indexed(160, 231), // 512
		indexed(126, 231), // 1024
		indexed(220, 16),  // 2048
		indexed(183, 54),  // 4096
		indexed(153, 18),  // 8192
		indexed(157, 22),  // 16384
		indexed(223, 94),  // 32768
		indexed(217, 88),  // 65536
		indexed(231, 16),  // 131072
	},
	Owners: [3]Tone{indexed(26, 231), indexed(124, 231), indexed(28, 231)},
	Fresh:  [3]Tone{indexed(117, 16), indexed(217, 16), indexed(120, 16)},
	Board:  ansi.IndexedColor(235), Empty: ansi.IndexedColor(237),
	Card: ansi.IndexedColor(235),
	Dim:  ansi.IndexedColor(246), Faint: ansi.IndexedColor(240),
	Accent: ansi.IndexedColor(220), Good: ansi.IndexedColor(78),
	Warn: ansi.IndexedColor(214), Bad: ansi.IndexedColor(203),
}

var indexedLight = Palette{
	Tiles: [17]Tone{
		indexed(231, 238), // 2
		indexed(189, 60),  // 4
		indexed(117, 17),  // 8
		indexed(80, 16),   // 16
		indexed(78, 16),   // 32
		indexed(149, 16),  // 64
		indexed(215, 16),  // 128
		indexed(208, 16),  // 256
		indexed(160, 231), // 512
		indexed(126, 231), // 1024
		indexed(220, 16),  // 2048
		indexed(54, 189),  // 4096
		indexed(18, 153),  // 8192
		indexed(22, 157),  // 16384
		indexed(94, 223),  // 32768
		indexed(88, 217),  // 65536
		indexed(16, 231),  // 131072
	},
	Owners: [3]Tone{indexed(75, 16), indexed(210, 16), indexed(114, 16)},
	Fresh:  [3]Tone{indexed(25, 231), indexed(88, 231), indexed(22, 231)},
	Board:  ansi.IndexedColor(248), Empty: ansi.IndexedColor(252),
	Card: ansi.IndexedColor(254),
	Dim:  ansi.IndexedColor(242), Faint: ansi.IndexedColor(248),
	Accent: ansi.IndexedColor(94), Good: ansi.IndexedColor(28),
	Warn: ansi.IndexedColor(130), Bad: ansi.IndexedColor(160),
}

var basicDark = Palette{
	Tiles: [17]Tone{
		basic(lipgloss.White, lipgloss.Black),         // 2
		basic(lipgloss.BrightWhite, lipgloss.Black),   // 4
		basic(lipgloss.Cyan, lipgloss.Black),          // 8
		basic(lipgloss.Blue, lipgloss.BrightWhite),    // 16
		basic(lipgloss.Green, lipgloss.Black),         // 32
		basic(lipgloss.BrightGreen, lipgloss.Black),   // 64
		basic(lipgloss.Yellow, lipgloss.Black),        // 128
		basic(lipgloss.Red, lipgloss.BrightWhite),     // 256
		basic(lipgloss.BrightRed, lipgloss.Black),     // 512
		basic(lipgloss.Magenta, lipgloss.BrightWhite), // 1024
		basic(lipgloss.BrightYellow, lipgloss.Black),  // 2048
		basic(lipgloss.BrightMagenta, lipgloss.Black), // 4096
		basic(lipgloss.BrightCyan, lipgloss.Black),    // 8192
		basic(lipgloss.BrightBlue, lipgloss.Black),    // 16384
		basic(lipgloss.BrightWhite, lipgloss.Red),     // 32768
		basic(lipgloss.BrightWhite, lipgloss.Blue),    // 65536
		basic(lipgloss.BrightWhite, lipgloss.Magenta), // 131072
	},
	Owners: [3]Tone{basic(lipgloss.Blue, lipgloss.BrightWhite), basic(lipgloss.Red, lipgloss.BrightWhite), basic(lipgloss.Green, lipgloss.Black)},
	Fresh:  [3]Tone{basic(lipgloss.BrightBlue, lipgloss.Black), basic(lipgloss.BrightRed, lipgloss.Black), basic(lipgloss.BrightGreen, lipgloss.Black)},
	Empty:  lipgloss.BrightBlack,
	Dim:    lipgloss.White, Faint: lipgloss.BrightBlack,
	Accent: lipgloss.BrightYellow, Good: lipgloss.BrightGreen,
	Warn: lipgloss.BrightYellow, Bad: lipgloss.BrightRed,
}

var basicLight = Palette{
	Tiles: [17]Tone{
		basic(lipgloss.BrightWhite, lipgloss.Black),   // 2
		basic(lipgloss.BrightWhite, lipgloss.Blue),    // 4
		basic(lipgloss.BrightCyan, lipgloss.Black),    // 8
		basic(lipgloss.Blue, lipgloss.BrightWhite),    // 16
		basic(lipgloss.Green, lipgloss.Black),         // 32
		basic(lipgloss.BrightGreen, lipgloss.Black),   // 64
		basic(lipgloss.Yellow, lipgloss.Black),        // 128
		basic(lipgloss.BrightRed, lipgloss.Black),     // 256
		basic(lipgloss.Red, lipgloss.BrightWhite),     // 512
		basic(lipgloss.Magenta, lipgloss.BrightWhite), // 1024
		basic(lipgloss.BrightYellow, lipgloss.Black),  // 2048
		basic(lipgloss.BrightMagenta, lipgloss.Black), // 4096
		basic(lipgloss.Cyan, lipgloss.Black),          // 8192
		basic(lipgloss.BrightBlue, lipgloss.Black),    // 16384
		basic(lipgloss.Black, lipgloss.BrightRed),     // 32768
		basic(lipgloss.Black, lipgloss.BrightCyan),    // 65536
		basic(lipgloss.Black, lipgloss.BrightYellow),  // 131072
	},
	Owners: [3]Tone{basic(lipgloss.BrightBlue, lipgloss.Black), basic(lipgloss.BrightRed, lipgloss.Black), basic(lipgloss.BrightGreen, lipgloss.Black)},
	Fresh:  [3]Tone{basic(lipgloss.Blue, lipgloss.BrightWhite), basic(lipgloss.Red, lipgloss.BrightWhite), basic(lipgloss.Green, lipgloss.BrightWhite)},
	Board:  lipgloss.BrightBlack, Empty: lipgloss.White,
	Dim: lipgloss.BrightBlack, Faint: lipgloss.White,
	Accent: lipgloss.Blue, Good: lipgloss.Green,
	Warn: lipgloss.Magenta, Bad: lipgloss.Red,
}
