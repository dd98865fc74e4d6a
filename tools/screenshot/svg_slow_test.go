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

func TestPicture(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	capture, out := filepath.Join(dir, "screen.ansi"), filepath.Join(dir, "picture.svg")
	screen := "\x1b[1;38;2;1;2;3ma<b\x1b[0m  \x1b[48;2;9;8;7m  \x1b[0m\n╭─▄\x1b[7m \x1b[0m ┓\n"
	require.NoError(t, os.WriteFile(capture, []byte(screen), 0o600))
	require.NoError(t, run(out, "", []string{"one & two=" + capture, "again=" + capture}))

	svg, err := os.ReadFile(out)
	require.NoError(t, err)
	decoder := xml.NewDecoder(strings.NewReader(string(svg)))
	for err == nil {
		_, err = decoder.Token()
	}
	require.ErrorIs(t, err, io.EOF, "well-formed")

	assert.Contains(t, string(svg), `>one &amp; two</text>`)
	assert.Contains(t, string(svg), `fill="#010203" font-weight="bold">a&lt;b</text>`)
	assert.Contains(t, string(svg), `<rect x="40.0" y="0.0" width="16.0" height="16.0" shape-rendering="crispEdges" fill="#090807"/>`, "two cells with a background")
	assert.Contains(t, string(svg), `<rect x="16.0" y="24.0" width="8.0" height="8.0"`, "the lower half of a cell")
	assert.Contains(t, string(svg), `d="M0 8H8" fill="none" stroke="`+ink+`"/>`, "a horizontal line")
	assert.Contains(t, string(svg), `d="M4 8V16M0 8H4" fill="none" stroke="`+ink+`" stroke-width="2.5"`, "a heavy corner")
	assert.Contains(t, string(svg), `<rect x="24.0" y="16.0" width="8.0" height="16.0" shape-rendering="crispEdges" fill="`+ink+`"/>`, "reversed")
	assert.NotContains(t, string(svg), "%!")
}
