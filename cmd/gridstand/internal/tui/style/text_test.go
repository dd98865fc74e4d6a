package style

import (
	"testing"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/colorprofile"
	"github.com/stretchr/testify/assert"
)

// Ensure that Text renders and inherits like lipgloss.Style.
func TestText(t *testing.T) {
	t.Parallel()
	theme := Theme{Profile: colorprofile.TrueColor}
	styles := []Text{{}, theme.Bold(), theme.Accent(), theme.Dim().Bold(true), theme.Bar(true), theme.Bar(false), theme.Owner(1)}
	for _, s := range styles {
		for _, text := range []string{"", "text", "a\tb", "one\ntwo", "one\ntwo\nthree", "\n", "ab\r\nab", "x" + theme.Good().Render("y") + "z"} {
			assert.Equal(t, s.Lipgloss().Render(text), s.Render(text), "%q", text)
			for _, from := range styles {
				assert.Equal(t, s.Lipgloss().Inherit(from.Lipgloss()).Render(text), s.Inherit(from).Render(text), "%q", text)
			}
		}
	}
	assert.Equal(t, lipgloss.NewStyle().Render("plain"), Text{}.Render("plain"))
}
