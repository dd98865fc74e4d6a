package style

import (
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
)

// Width returns the number of columns that a line of styled text takes. It is
// ansi.StringWidth, but faster for lines of ASCII, box-drawing characters and blocks, which
// most lines of a frame are.
func Width(line string) int {
	width := 0
	for i := 0; i < len(line); {
		switch c := line[i]; {
		case c >= ' ' && c <= '~':
			width++
			i++
		case c >= utf8.RuneSelf:
			char, n := utf8.DecodeRuneInString(line[i:])
			if char < '─' || char > '▟' {
				return ansi.StringWidth(line)
			}
			width++
			i += n
		default:
			n := styleLength(line[i:])
			if n == 0 {
				return ansi.StringWidth(line)
			}
			i += n
		}
	}
	return width
}

// styleLength returns the length of the escape sequence for a style with which text begins, or 0
// if it does not begin with one.
func styleLength(text string) int {
	if len(text) < 2 || text[:2] != "\x1b[" {
		return 0
	}
	for i := 2; i < len(text); i++ {
		switch c := text[i]; {
		case c == 'm':
			return i + 1
		case c != ';' && (c < '0' || c > '9'):
			return 0
		}
	}
	return 0
}
