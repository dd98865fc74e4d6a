package app

import (
	"testing"

	"github.com/charmbracelet/x/ansi"
	"github.com/stretchr/testify/assert"

	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/style"
)

// The tests in this file are those of the packages that pages draw with. They are here so that only
// one program has to be linked for them.

// Ensure that Width returns the same as ansi.StringWidth.
func TestStyle_Width(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"", "plain", "\x1b[38;2;1;2;3mink\x1b[m", "╭─▀▄█▟■╮", "● live", "e\u0301", "─\u0301", "a\u200db", "日本", "👨\u200d👩\u200d👧",
		"\x1b", "\x1b[", "\x1b[1", "\x1b[1;m", "\x1b[4:3mx", "\x1b[2Kx", "\x1b]8;;http://x\x07y", "\t", "\x7f", "\xe2\x94", "\x9b1m", "a\nb",
	} {
		assert.Equal(t, ansi.StringWidth(text), style.Width(text), "%q", text)
	}
}
