//go:build slow

package main

import (
	"encoding/xml"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// store writes the files of a recording into a new folder.
func store(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	return dir
}

func TestRecording(t *testing.T) {
	t.Parallel()
	screens := store(t, map[string]string{
		"000000.ansi": "old\nsame\n", "001000.ansi": "\x1b[48;2;9;8;7mnew\x1b[0m\nsame\n", "006000.ansi": "old\nsame\n",
		"000900.key": "left",
	})
	captions := store(t, map[string]string{"002000.txt": "it <changes>"})
	svg, err := picture(captions, []string{"one=" + screens})
	require.NoError(t, err)
	decoder := xml.NewDecoder(strings.NewReader(svg))
	for err == nil {
		_, err = decoder.Token()
	}
	require.ErrorIs(t, err, io.EOF, "well-formed")

	// The recording takes 10 s: 6 s until the last screen, and the ending.
	const hide, show = `{visibility:hidden}`, `{visibility:visible}`
	for element, rule := range map[string]string{
		">same<":               `visibility:visible;animation-name:k#}@keyframes k#{0.000%` + show + `}`,
		">old<":                `animation-name:k#}@keyframes k#{0.000%` + show + `10.000%` + hide + `60.000%` + show + `}`,
		">new<":                `visibility:visible;animation-name:k#}@keyframes k#{0%` + hide + `10.000%` + show + `60.000%` + hide + `}`,
		`fill="#090807"`:       `visibility:visible;animation-name:k#}@keyframes k#{0%` + hide + `10.000%` + show + `60.000%` + hide + `}`,
		">it &lt;changes&gt;<": `visibility:visible;animation-name:k#}@keyframes k#{0%` + hide + `20.000%` + show + `}`,
		">←<":                  `animation-name:k#}@keyframes k#{0%` + hide + `9.000%` + show + `21.000%` + hide + `}`,
	} {
		require.Equal(t, 1, strings.Count(svg, element), "%s is drawn once", element)
		before, _, _ := strings.Cut(svg, element)
		_, class, _ := strings.Cut(before[strings.LastIndex(before, `class="s k`):], "k")
		class, _, _ = strings.Cut(class, `"`)
		assert.Contains(t, svg, "\n.k"+class+"{"+strings.ReplaceAll(rule, "#", class)+"\n", element)
	}
	assert.Less(t, strings.Index(svg, `fill="#090807"`), strings.Index(svg, ">new<"), "backgrounds are below texts")
	assert.NotContains(t, svg, "%!")
}
