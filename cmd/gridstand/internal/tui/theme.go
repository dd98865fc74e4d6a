package tui

import (
	"image/color"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/colorprofile"
)

// Theme is what the terminal can show, and on which ground. The zero Theme has
// no colours.
type Theme struct {
	// Profile is the depth of colour. ASCII and below have no colours and no
	// animation, so that the numbers alone carry the meaning.
	Profile colorprofile.Profile
	// Light is set where the terminal's ground is light.
	Light bool
}

// palette returns the theme's colours, nil when it has none.
func (t Theme) palette() *palette {
	pick := func(dark, light *palette) *palette {
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
		return nil
	}
}

// coloured reports whether the theme has colours.
func (t Theme) coloured() bool { return t.Profile > colorprofile.ASCII }

// textIn is the style of text in a colour, plain text for nil.
func textIn(c color.Color) lipgloss.Style {
	if c == nil {
		return lipgloss.NewStyle()
	}
	return lipgloss.NewStyle().Foreground(c)
}

// colours are those of the theme, all nil if it has none.
func (t Theme) colours() palette {
	if p := t.palette(); p != nil {
		return *p
	}
	return palette{}
}

func (t Theme) dim() lipgloss.Style    { return textIn(t.colours().dim) }
func (t Theme) faint() lipgloss.Style  { return textIn(t.colours().faint) }
func (t Theme) accent() lipgloss.Style { return textIn(t.colours().accent) }
func (t Theme) good() lipgloss.Style   { return textIn(t.colours().good) }
func (t Theme) warn() lipgloss.Style   { return textIn(t.colours().warn) }
func (t Theme) bad() lipgloss.Style    { return textIn(t.colours().bad) }
func (t Theme) bold() lipgloss.Style   { return lipgloss.NewStyle().Bold(true) }
