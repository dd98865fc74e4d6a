package tuitest

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/ansi"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/ui"
)

var rewrite = flag.Bool("update", false, "rewrite the golden files")

// Sizes are the window sizes, in columns × rows, for tests that draw pages.
var Sizes = [][2]int{{40, 12}, {80, 24}}

// Golden compares a page at every size with testdata/<name>.txt, without colors, and with
// testdata/<name>.ansi, in true color on a dark background. It calls open again for each
// combination. To view a file in color, print it with cat in a terminal that is 80 columns wide.
// On a light background, the page must have the same text in other colors.
func Golden(t *testing.T, name string, open func(env *ui.Env) ui.Page) {
	t.Helper()
	draw := func(theme ui.Theme) string {
		var all strings.Builder
		for _, size := range Sizes {
			env := Env(nil)
			env.Width, env.Height, env.Theme, env.Site = size[0], size[1], theme, "https://play.example"
			p := open(env)
			content := Harmless(t, env, p)
			p.Own().Stop()
			fmt.Fprintf(&all, "=== %d×%d\n", size[0], size[1])
			for line := range strings.SplitSeq(content, "\n") {
				all.WriteString(strings.TrimRight(line, " ") + "\n")
			}
		}
		return all.String()
	}
	compare(t, name+".txt", ansi.Strip(draw(ui.Theme{Still: true})))
	for _, theme := range []ui.Theme{{ASCII: true}, {ASCII: true, Profile: colorprofile.TrueColor}} {
		screen := strings.ReplaceAll(ansi.Strip(draw(theme)), "×", "x") // in the headings
		assert.NotRegexp(t, `[^\n -~]|\?[^ \n]`, screen, "%s in ASCII", name)
	}
	dark := draw(ui.Theme{Profile: colorprofile.TrueColor, Still: true})
	compare(t, name+".ansi", dark)
	light := draw(ui.Theme{Profile: colorprofile.TrueColor, Still: true, Light: true})
	assert.Equal(t, ansi.Strip(dark), ansi.Strip(light), "%s on a light background", name)
	assert.NotEqual(t, dark, light)
}

// styling matches the escape sequences that pages may write.
var styling = regexp.MustCompile("\x1b\\[[0-9;:]*m")

// Harmless draws a page, checks that it has only text and styling and fits in the window, and
// returns it.
func Harmless(t *testing.T, env *ui.Env, p ui.Page) string {
	t.Helper()
	content := ui.Draw(env, p, false).Content
	plain := styling.ReplaceAllString(content, "")
	lines := strings.Split(plain, "\n")
	bad := strings.IndexFunc(plain, func(char rune) bool { return char != '\n' && !unicode.IsPrint(char) })
	wide := slices.IndexFunc(lines, func(line string) bool { return lipgloss.Width(line) > env.Width })
	require.Truef(t, bad < 0 && wide < 0 && len(lines) <= env.Height, "byte %d, line %d of %d: %q", bad, wide, len(lines), plain)
	return content
}

func compare(t *testing.T, name, text string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *rewrite {
		require.NoError(t, os.MkdirAll("testdata", 0o755))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
		return
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err, "to create it, run: make golden")
	assert.Equal(t, string(want), text, "differs from %s; if the change is intended, run: make golden", path)
}
