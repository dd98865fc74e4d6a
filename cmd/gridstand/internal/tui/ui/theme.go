package ui

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
	// ASCII is set if the terminal cannot show other characters.
	ASCII bool
}

// Board returns the theme of boards, which have no colors in ASCII: colored tiles need half blocks.
func (t Theme) Board() Theme {
	if t.ASCII {
		t.Profile = colorprofile.ASCII
	}
	return t
}

// Colors returns the theme's colors. All of them are nil for a theme without colors.
func (t Theme) Colors() *palette.Palette {
	light := 0
	if t.Light {
		light = 1
	}
	switch t.Profile {
	case colorprofile.TrueColor:
		return &trueColors[light]
	case colorprofile.ANSI256:
		return &indexed[light]
	case colorprofile.ANSI:
		return &basic[light]
	default:
		return &palette.Palette{}
	}
}

// Colored reports whether the theme has colors.
func (t Theme) Colored() bool { return t.Profile > colorprofile.ASCII }

// Dim returns the style of labels.
func (t Theme) Dim() lipgloss.Style { return ink(t.Colors().Dim) }

// Faint returns the style of lines.
func (t Theme) Faint() lipgloss.Style { return ink(t.Colors().Faint) }

// Accent returns the style of keys and titles.
func (t Theme) Accent() lipgloss.Style { return ink(t.Colors().Accent) }

// Good returns the style of good news.
func (t Theme) Good() lipgloss.Style { return ink(t.Colors().Good) }

// Warn returns the style of warnings.
func (t Theme) Warn() lipgloss.Style { return ink(t.Colors().Warn) }

// Bad returns the style of errors.
func (t Theme) Bad() lipgloss.Style { return ink(t.Colors().Bad) }

// Bold returns the style of bold text in the terminal's own color.
func (t Theme) Bold() lipgloss.Style { return lipgloss.NewStyle().Bold(true) }

func ink(c color.Color) lipgloss.Style { return lipgloss.NewStyle().Foreground(c) }

// Owner returns the style for the letter and name of a seat in a game with several seats.
func (t Theme) Owner(seat int) lipgloss.Style {
	owners := t.Colors().Owners
	if seat < 0 || seat >= len(owners) {
		return t.Bold()
	}
	return t.Bold().Foreground(owners[seat].Ink).Background(owners[seat].Ground)
}

// Bar returns the style of the selected row of a list. It stands out more if the list has
// the focus.
func (t Theme) Bar(focused bool) lipgloss.Style {
	if focused {
		return t.Bold().Background(t.Colors().Faint)
	}
	return lipgloss.NewStyle().Background(t.Colors().Card)
}

// The palettes for true color, 256 colors and 16 colors, each for dark and for light terminals. The colors are
// picked separately for each depth, because automatic conversion could make two tiles look alike.
var (
	trueColors = [2]palette.Palette{palette.Dark, palette.Light}
	indexed    = [2]palette.Palette{fromTables(0), fromTables(1)}
	basic      = [2]palette.Palette{fromTables(2), fromTables(3)}
)

// The colors of terminals with fewer colors, by their numbers. Each row has those for 256 colors,
// for dark and for light terminals, then those for 16 colors, for dark and for light terminals.
// Numbers 0 to 7 are black, red, green, yellow, blue, magenta, cyan and white, and 8 to 15 the same
// but bright. A tone has the numbers of its background and its text.
var (
	tileTones = [17][4][2]int{
		{{240, 255}, {231, 238}, {7, 0}, {15, 0}},  // 2
		{{61, 231}, {189, 60}, {15, 0}, {15, 4}},   // 4
		{{32, 231}, {117, 17}, {6, 0}, {14, 0}},    // 8
		{{37, 16}, {80, 16}, {4, 15}, {4, 15}},     // 16
		{{35, 16}, {78, 16}, {2, 0}, {2, 0}},       // 32
		{{113, 16}, {149, 16}, {10, 0}, {10, 0}},   // 64
		{{178, 16}, {215, 16}, {3, 0}, {3, 0}},     // 128
		{{166, 231}, {208, 16}, {1, 15}, {9, 0}},   // 256
		{{160, 231}, {160, 231}, {9, 0}, {1, 15}},  // 512
		{{126, 231}, {126, 231}, {5, 15}, {5, 15}}, // 1024
		{{220, 16}, {220, 16}, {11, 0}, {11, 0}},   // 2048
		{{183, 54}, {54, 189}, {13, 0}, {13, 0}},   // 4096
		{{153, 18}, {18, 153}, {14, 0}, {6, 0}},    // 8192
		{{157, 22}, {22, 157}, {12, 0}, {12, 0}},   // 16384
		{{223, 94}, {94, 223}, {15, 1}, {0, 9}},    // 32768
		{{217, 88}, {88, 217}, {15, 4}, {0, 14}},   // 65536
		{{231, 16}, {16, 231}, {15, 5}, {0, 11}},   // 131072
	}
	ownerTones = [3][4][2]int{
		{{26, 231}, {75, 16}, {4, 15}, {12, 0}},  // blue
		{{124, 231}, {210, 16}, {1, 15}, {9, 0}}, // red
		{{28, 231}, {114, 16}, {2, 0}, {10, 0}},  // green
	}
	freshTones = [3][4][2]int{
		{{117, 16}, {25, 231}, {12, 0}, {4, 15}}, // blue
		{{217, 16}, {88, 231}, {9, 0}, {1, 15}},  // red
		{{120, 16}, {22, 231}, {10, 0}, {2, 15}}, // green
	}
	otherColors = [9][4]int{
		{235, 248, none, 8},    // board
		{237, 252, 8, 7},       // empty
		{235, 254, none, none}, // card
		{246, 242, 7, 8},       // dim
		{240, 248, 8, 7},       // faint
		{220, 94, 11, 4},       // accent
		{78, 28, 10, 2},        // good
		{214, 130, 11, 5},      // warn
		{203, 160, 9, 1},       // bad
	}
)

// none is the terminal's own color.
const none = -1

// fromTables returns the palette of a column of the tables above.
func fromTables(column int) (p palette.Palette) {
	pick := func(number int) color.Color {
		switch {
		case number == none:
			return nil
		case column < 2:
			return ansi.IndexedColor(number)
		default:
			return ansi.BasicColor(number)
		}
	}
	tone := func(row [4][2]int) palette.Tone {
		return palette.Tone{Ground: pick(row[column][0]), Ink: pick(row[column][1])}
	}
	for i, row := range tileTones {
		p.Tiles[i] = tone(row)
	}
	for i := range p.Owners {
		p.Owners[i], p.Fresh[i] = tone(ownerTones[i]), tone(freshTones[i])
	}
	for i, c := range []*color.Color{&p.Board, &p.Empty, &p.Card, &p.Dim, &p.Faint, &p.Accent, &p.Good, &p.Warn, &p.Bad} {
		*c = pick(otherColors[i][column])
	}
	return p
}
