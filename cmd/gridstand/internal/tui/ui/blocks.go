package ui

import (
	"fmt"
	"image"
	"slices"
	"strings"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/gridstand/gridstand/internal/convert"
)

// NameLimit is the maximum length of the name of a player, a variant or a bot, in
// characters. Longer names are truncated.
const NameLimit = 24

// Fact is a label with its value. Extra is a second value, shown in the style of good news.
type Fact struct{ Label, Value, Extra string }

// Cards draws facts side by side on a background, across the full width. Without colors, it is like Inline,
// but writes each fact in its own line if they do not all fit in one.
func Cards(t Theme, width int, facts ...Fact) string {
	p := t.Colors()
	each := (width - 2*(len(facts)-1)) / len(facts)
	if p.Card == nil || t.ASCII {
		lines := convert.All(facts, func(f Fact) string { return Inline(t, width, f) })
		if line := strings.Join(lines, "   "); lipgloss.Width(line) <= width {
			return line
		}
		return strings.Join(lines, "\n")
	}
	canvas := NewCanvas(width, 4)
	for i, f := range facts {
		x := i * (each + 2)
		canvas.Fill(image.Rect(x, 1, x+each, 7), p.Card)
		canvas.Write(x+2, 1, f.Label, p.Dim, false)
		canvas.Write(x+2, 2, f.Value, Foreground, true)
		canvas.Write(x+4+len(f.Value), 2, f.Extra, p.Good, true)
	}
	return canvas.Render()
}

// Inline writes as many facts as fit on one line.
func Inline(t Theme, width int, facts ...Fact) string {
	line := ""
	for _, f := range facts {
		value := t.Bold().Render(f.Value)
		if f.Extra != "" {
			value += " " + t.Good().Render(f.Extra)
		}
		text := t.Dim().Render(f.Label) + " " + value
		switch {
		case line == "" && lipgloss.Width(text) > width:
			return value
		case line == "":
			line = text
		case lipgloss.Width(line)+3+lipgloss.Width(text) <= width:
			line += "   " + text
		}
	}
	return line
}

// Ending draws how a game ended and the score, in large letters if they fit in width × height.
func Ending(t Theme, look lipgloss.Style, title, score string, width, height int) string {
	wrapped := look.Render(Wrap(title, width))
	large := t.Large(score, width)
	switch height -= lipgloss.Height(wrapped); {
	case large == score || height < LargeHeight:
		return ansi.Truncate(look.Render(title)+"  "+t.Bold().Render(score+" points"), width, "…")
	case height < 8:
		return wrapped + "\n" + large
	default:
		return wrapped + "\n\n" + large
	}
}

// Pad pads text with spaces to width columns.
func Pad(text string, width int) string {
	return text + strings.Repeat(" ", max(width-lipgloss.Width(text), 0))
}

// Cell returns text of exactly width columns: padded with spaces, or truncated with an
// ellipsis.
func Cell(text string, width int) string {
	return Pad(ansi.Truncate(text, max(width, 0), "…"), width)
}

// Wrap breaks text between words into lines of at most width columns, and longer words at that width.
// It does not break at hyphens, since command-line flags begin with them.
func Wrap(text string, width int) string { return wrapAt(text, width, "") }

// wrapAt is like Wrap, but also breaks text after the characters in breakpoints.
func wrapAt(text string, width int, breakpoints string) string {
	const unbreakable = "\u2011"
	text = ansi.Wrap(strings.ReplaceAll(text, "-", unbreakable), max(width, 1), breakpoints)
	return strings.ReplaceAll(text, unbreakable, "-")
}

// Command draws text followed by a command, which begins a new line if width is too small for one.
func Command(t Theme, text, command string, width int) string {
	between := " "
	if ansi.StringWidth(text+" "+command) > width {
		between = "\n"
	}
	return t.Dim().Render(Wrap(text, width)) + between + t.Bold().Render(Wrap(command, width))
}

// Stack arranges blocks vertically with empty lines between them. If the result is taller
// than height, Stack drops the empty lines, then the last blocks, then the last lines of
// the first block.
func Stack(height int, blocks ...string) string {
	kept := nonEmpty(blocks)
	text := strings.Join(kept, "\n\n")
	if lipgloss.Height(text) <= height {
		return text
	}
	for len(kept) > 1 && lipgloss.Height(strings.Join(kept, "\n")) > height {
		kept = kept[:len(kept)-1]
	}
	lines := strings.Split(strings.Join(kept, "\n"), "\n")
	return strings.Join(lines[:min(len(lines), max(height, 1))], "\n")
}

// Room returns the number of rows that Stack leaves below blocks for another block.
func Room(height int, blocks ...string) int {
	return height - lipgloss.Height(strings.Join(nonEmpty(blocks), "\n\n")) - 1
}

func nonEmpty(all []string) []string {
	return slices.DeleteFunc(slices.Clone(all), func(text string) bool { return text == "" })
}

// Lines joins lines, and drops empty ones unless airy is set.
func Lines(airy bool, all ...string) string {
	if !airy {
		all = nonEmpty(all)
	}
	return strings.Join(all, "\n")
}

// Block truncates or pads text to exactly height lines of width columns.
func Block(text string, width, height int) string {
	lines := strings.Split(text, "\n")
	for len(lines) < height {
		lines = append(lines, "")
	}
	lines = lines[:max(height, 0)]
	for i, line := range lines {
		lines[i] = Cell(line, width)
	}
	return strings.Join(lines, "\n")
}

// TooSmall returns the body to show if the page does not fit in the window.
func TooSmall(width, height, needsWidth, needsHeight int) string {
	const margins = 2
	text := fmt.Sprintf("The window is too small: it needs %d×%d and has %d×%d.", needsWidth, needsHeight, width, height)
	return Wrap(text, width-margins)
}
