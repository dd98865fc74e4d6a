// Package style defines the basics of the terminal program's appearance: themes, palettes
// for each color depth, and a canvas that draws blocks of color.
package style

import (
	"image/color"

	"github.com/charmbracelet/colorprofile"
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

// textIn returns the style of text in the color c, or of plain text if c is nil.
func textIn(c color.Color) Text { return Text{look{ink: c}} }

// Dim returns the style of labels.
func (t Theme) Dim() Text { return textIn(t.Colors().Dim) }

// Faint returns the style of lines.
func (t Theme) Faint() Text { return textIn(t.Colors().Faint) }

// Accent returns the style of keys and titles.
func (t Theme) Accent() Text { return textIn(t.Colors().Accent) }

// Good returns the style of good news.
func (t Theme) Good() Text { return textIn(t.Colors().Good) }

// Warn returns the style of warnings.
func (t Theme) Warn() Text { return textIn(t.Colors().Warn) }

// Bad returns the style of errors.
func (t Theme) Bad() Text { return textIn(t.Colors().Bad) }

// Bold returns the style of bold text in the terminal's own color.
func (t Theme) Bold() Text { return Text{look{bold: true}} }

// Owner returns the style for the letter and name of a seat in a game with several seats.
func (t Theme) Owner(seat int) Text {
	owners := t.Colors().Owners
	if seat < 0 || seat >= len(owners) {
		return t.Bold()
	}
	return Text{look{owners[seat].Ink, owners[seat].Ground, true}}
}

// Bar returns the style of the selected row of a list. It stands out more if the list has
// the focus.
func (t Theme) Bar(focused bool) Text {
	if focused {
		return Text{look{ground: t.Colors().Faint, bold: true}}
	}
	return Text{look{ground: t.Colors().Card}}
}
