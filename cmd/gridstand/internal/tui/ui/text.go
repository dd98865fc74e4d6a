package ui

import (
	"strings"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
)

// ascii has the ASCII characters that stand for others of the same width.
var ascii = map[string]string{
	"│": "|", "┃": "|", "▏": "|", "‖": "|", "─": "-", "━": "-", "▁": "_", "▂": ".", "▃": "-", "▄": "=", "▅": "+", "▆": "*", "▇": "%", "█": "#", "▓": "%", "▒": ":", "░": ".",
	"●": "*", "•": "*", "■": "#", "○": "o", "◌": "o", "▸": ">", "▶": ">", "›": ">", "◂": "<", "✓": "+", "◉": "*", "★": "*", "‹": "<",
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
