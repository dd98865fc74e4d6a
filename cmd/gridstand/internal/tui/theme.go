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

// style returns the style of text in one of the palette's colours. Without
// colours it is plain text.
func (t Theme) style(of func(*palette) color.Color) lipgloss.Style {
	s := lipgloss.NewStyle()
	if p := t.palette(); p != nil {
		if c := of(p); c != nil {
			s = s.Foreground(c)
		}
	}
	return s
}

func (t Theme) dim() lipgloss.Style { return t.style(func(p *palette) color.Color { return p.dim }) }

func (t Theme) faint() lipgloss.Style {
	return t.style(func(p *palette) color.Color { return p.faint })
}

func (t Theme) accent() lipgloss.Style {
	return t.style(func(p *palette) color.Color { return p.accent })
}

func (t Theme) good() lipgloss.Style { return t.style(func(p *palette) color.Color { return p.good }) }

func (t Theme) warn() lipgloss.Style { return t.style(func(p *palette) color.Color { return p.warn }) }

func (t Theme) bad() lipgloss.Style { return t.style(func(p *palette) color.Color { return p.bad }) }

func (t Theme) bold() lipgloss.Style { return lipgloss.NewStyle().Bold(true) }
