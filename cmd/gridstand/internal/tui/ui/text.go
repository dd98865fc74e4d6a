package ui

import (
	"image/color"
	"strings"
	"sync"
	"unicode/utf8"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"
)

// Text is a style of text: its colors, which are nil for the terminal's own, and boldness. It
// renders like lipgloss.Style, which also handles borders and margins, and takes longer for that.
type Text struct {
	ink, ground color.Color
	bold        bool
}

// Bold returns the style with or without bold.
func (t Text) Bold(bold bool) Text {
	t.bold = bold
	return t
}

// SameColor reports whether two styles have the same text color.
func (t Text) SameColor(as Text) bool { return t.ink == as.ink }

// Inherit fills the unset colors and boldness from another style.
func (t Text) Inherit(from Text) Text {
	if t.ink == nil {
		t.ink = from.ink
	}
	if t.ground == nil {
		t.ground = from.ground
	}
	t.bold = t.bold || from.bold
	return t
}

// Render returns text in the style. Like lipgloss, it pads lines to the same width.
func (t Text) Render(text string) string {
	if strings.ContainsAny(text, "\n\r\t") {
		return t.Lipgloss().Render(text)
	}
	if start := t.escape(); start != "" {
		return start + text + ansi.ResetStyle
	}
	return text
}

// Lipgloss returns the style as a lipgloss.Style.
func (t Text) Lipgloss() lipgloss.Style {
	s := lipgloss.NewStyle()
	if t.bold {
		s = s.Bold(true)
	}
	if t.ink != nil {
		s = s.Foreground(t.ink)
	}
	if t.ground != nil {
		s = s.Background(t.ground)
	}
	return s
}

// escapes caches the escape sequence of each style that was used. There are few, since all
// colors come from the palettes.
var escapes sync.Map

// escape returns the escape sequence that starts text in the style, or "" for plain text.
func (t Text) escape() string {
	if known, ok := escapes.Load(t); ok {
		return known.(string)
	}
	var s ansi.Style
	if t.bold {
		s = s.Bold()
	}
	if t.ink != nil && t.ink != Foreground {
		s = s.ForegroundColor(t.ink)
	}
	if t.ground != nil && t.ground != Foreground {
		s = s.BackgroundColor(t.ground)
	}
	text := ""
	if len(s) > 0 {
		text = s.String()
	}
	escapes.Store(t, text)
	return text
}

// ascii has the ASCII characters that stand for others of the same width.
var ascii = map[string]string{
	"│": "|", "┃": "|", "▏": "|", "‖": "|", "─": "-", "━": "-", "▁": "_", "▂": ".", "▃": "-", "▄": "=", "▅": "+", "▆": "*", "▇": "%", "█": "#", "▓": "%", "▒": ":", "░": ".",
	"●": "*", "•": "*", "■": "*", "○": "o", "◌": "o", "▲": "^", "▸": ">", "▶": ">", "›": ">", "◂": "<", "✓": "+", "◉": "*", "★": "*", "‹": "<",
	"↑": "^", "↓": "v", "←": "<", "→": ">", "·": "-", "–": "-", "…": ".", "×": "x",
	"╭": "+", "╮": "+", "╰": "+", "╯": "+", "┏": "+", "┓": "+", "┗": "+", "┛": "+",
	"├": "+", "┤": "+", "┬": "+", "┴": "+", "┼": "+",
	"⬛": "[]", "🟦": "[]", "🟩": "[]", "🟧": "[]", "🟥": "[]", "🟪": "[]", "🟨": "[]", "⬜": "[]",
}

// ASCII replaces the other characters of styled text by ASCII characters of the same width.
func ASCII(text string) string {
	var out strings.Builder
	for text != "" {
		if text[0] < utf8.RuneSelf {
			out.WriteByte(text[0])
			text = text[1:]
			continue
		}
		cluster, width := ansi.FirstGraphemeCluster(text, ansi.GraphemeWidth)
		glyph, known := ascii[cluster]
		if !known {
			glyph = strings.Repeat("?", width)
		}
		out.WriteString(glyph)
		text = text[len(cluster):]
	}
	return out.String()
}

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
