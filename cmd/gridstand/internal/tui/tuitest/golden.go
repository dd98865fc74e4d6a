package tuitest

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/ansi"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/frame"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/style"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/ui"
)

var rewrite = flag.Bool("update", false, "rewrite the golden files")

// Sizes are the window sizes, in columns × rows, for tests that draw pages.
var Sizes = [][2]int{{40, 12}, {60, 14}, {80, 24}, {120, 36}, {200, 60}}

// Themes are the themes that Golden draws every page in.
var Themes = []style.Theme{
	{Profile: colorprofile.ASCII},
	{Profile: colorprofile.TrueColor},
	{Profile: colorprofile.TrueColor, Light: true},
	{Profile: colorprofile.ANSI256},
	{Profile: colorprofile.ANSI256, Light: true},
	{Profile: colorprofile.ANSI},
	{Profile: colorprofile.ANSI, Light: true},
}

// Golden compares a page with testdata/<name>-<theme>, in every theme and at every size. It
// calls open again for each combination. To view a file in color, print it with cat in a
// terminal that is 200 columns wide.
func Golden(t *testing.T, name string, open func(env *ui.Env) ui.Page) {
	t.Helper()
	for _, theme := range Themes {
		var all strings.Builder
		for _, size := range Sizes {
			env := Env(nil)
			env.Width, env.Height = size[0], size[1]
			env.Theme = theme
			env.Theme.Still = true
			p := open(env)
			v := frame.Draw(env, p, frame.State{})
			p.Own().Stop()
			assert.True(t, v.AltScreen)
			lines := strings.Split(v.Content, "\n")
			assert.LessOrEqual(t, len(lines), env.Height, "%s at %v", name, size)
			fmt.Fprintf(&all, "=== %d×%d\n", size[0], size[1])
			for _, line := range lines {
				assert.LessOrEqual(t, ansi.StringWidth(line), env.Width, "%s at %v", name, size)
				if !theme.Colored() {
					line = ansi.Strip(line)
				}
				all.WriteString(strings.TrimRight(line, " ") + "\n")
			}
		}
		compare(t, fileName(name, theme), all.String())
	}
}

// fileName returns the name of the golden file for a page in a theme.
func fileName(name string, t style.Theme) string {
	if !t.Colored() {
		return name + ".txt"
	}
	background := "dark"
	if t.Light {
		background = "light"
	}
	return fmt.Sprintf("%s-%s-%s.ansi", name, strings.ToLower(t.Profile.String()), background)
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
	require.NoError(t, err, "to create it, run: go test ./cmd/gridstand/internal/tui/... -update")
	assert.Equal(t, string(want), text, "differs from %s; if the change is intended, run: go test ./cmd/gridstand/internal/tui/... -update", path)
}

// text returns a screen without colors or trailing spaces.
func text(screen string) string {
	lines := strings.Split(ansi.Strip(screen), "\n")
	for i, line := range lines {
		lines[i] = strings.TrimRight(line, " ")
	}
	return strings.Join(lines, "\n")
}
