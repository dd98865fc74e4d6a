// Package style defines the basics of the terminal program's appearance: themes, palettes
// for each color depth, and a canvas that draws blocks of color.
package style

import (
	"image/color"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/ansi"

	"github.com/gridstand/gridstand/internal/palette"
)

// Theme describes a terminal. Each running program has its own copy, so that many of them
// can run in one process. The zero Theme has no colors.
type Theme struct {
	// Profile is the color depth. ASCII and below have no colors.
	Profile colorprofile.Profile
	// Light is set if the terminal's background is light.
	Light bool
	// Still turns animations off.
	Still bool
}

// Colors returns the theme's colors. All of them are nil for a theme without colors.
func (t Theme) Colors() *Palette {
	pick := func(dark, light *Palette) *Palette {
		if t.Light {
			return light
		}
		return dark
	}
	switch t.Profile {
	case colorprofile.TrueColor:
		return pick(&trueDark, &trueLight)
	case colorprofile.ANSI256:
		return pick(&indexedDark, &indexedLight)
	case colorprofile.ANSI:
		return pick(&basicDark, &basicLight)
	default:
		return &Palette{}
	}
}

// Colored reports whether the theme has colors.
func (t Theme) Colored() bool { return t.Profile > colorprofile.ASCII }

// Dim returns the style of labels.
func (t Theme) Dim() Text { return Text{ink: t.Colors().Dim} }

// Faint returns the style of lines.
func (t Theme) Faint() Text { return Text{ink: t.Colors().Faint} }

// Accent returns the style of keys and titles.
func (t Theme) Accent() Text { return Text{ink: t.Colors().Accent} }

// Good returns the style of good news.
func (t Theme) Good() Text { return Text{ink: t.Colors().Good} }

// Warn returns the style of warnings.
func (t Theme) Warn() Text { return Text{ink: t.Colors().Warn} }

// Bad returns the style of errors.
func (t Theme) Bad() Text { return Text{ink: t.Colors().Bad} }

// Bold returns the style of bold text in the terminal's own color.
func (t Theme) Bold() Text { return Text{bold: true} }

// Owner returns the style for the letter and name of a seat in a game with several seats.
func (t Theme) Owner(seat int) Text {
	owners := t.Colors().Owners
	if seat < 0 || seat >= len(owners) {
		return t.Bold()
	}
	return Text{owners[seat].Ink, owners[seat].Ground, true}
}

// Bar returns the style of the selected row of a list. It stands out more if the list has
// the focus.
func (t Theme) Bar(focused bool) Text {
	if focused {
		return Text{ground: t.Colors().Faint, bold: true}
	}
	return Text{ground: t.Colors().Card}
}

// Tone has the colors of a tile's background and its number.
type Tone struct{ Ground, Ink color.Color }

// Palette has all of the program's colors for one color depth and a dark or light terminal.
// The colors are picked separately for each depth, because automatic conversion could make
// two tiles look alike.
type Palette struct {
	// Tiles are the tones of the tiles from 2 to 131072, indexed by exponent minus one.
	// Small tiles have cool colors, large ones hot colors, and 2048 is gold. Tiles above
	// 2048 have a light background in dark themes and a dark one in light themes.
	Tiles [17]Tone
	// Owners are the tones of blue, red and green cells. Fresh is for the cells of the last
	// jump.
	Owners, Fresh [3]Tone
	// Board is the color of the gaps between cells, Empty that of cells without a tile.
	Board, Empty color.Color
	// Card is the background of the scores.
	Card color.Color
	// Dim is the color of labels, Faint that of lines.
	Dim, Faint color.Color
	// Accent is the color of keys and titles. Good, Warn and Bad are for good news,
	// warnings and errors.
	Accent, Good, Warn, Bad color.Color
}

// Tile returns the tone of the tile with a given number.
func (p *Palette) Tile(face int32) Tone {
	return p.Tiles[palette.TileIndex(face)]
}

// trueDark and trueLight are for terminals with true color.
var trueDark, trueLight = fromShared(&palette.Dark), fromShared(&palette.Light)

// fromShared converts a palette that the terminal program shares with the web page.
func fromShared(p *palette.Palette) Palette {
	tone := func(t palette.Tone) Tone { return Tone{t.Ground, t.Ink} }
	shared := Palette{
		Board: p.Board, Empty: p.Empty, Card: p.Card, Dim: p.Dim, Faint: p.Faint,
		Accent: p.Accent, Good: p.Good, Warn: p.Warn, Bad: p.Bad,
	}
	for i, t := range p.Tiles {
		shared.Tiles[i] = tone(t)
	}
	for i := range p.Owners {
		shared.Owners[i], shared.Fresh[i] = tone(p.Owners[i]), tone(p.Fresh[i])
	}
	return shared
}

// indexed returns a tone from the 256-color palette.
func indexed(ground, ink ansi.IndexedColor) Tone { return Tone{ground, ink} }

// basic returns a tone from the 16-color palette.
func basic(ground, ink ansi.BasicColor) Tone { return Tone{ground, ink} }

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
