package tui

import (
	"fmt"
	"image"
	"strconv"
	"strings"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"
	"github.com/dustin/go-humanize"
	"github.com/dustin/go-humanize/english"

	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// comma writes a number with thousands separators.
func comma(n int32) string { return humanize.Comma(int64(n)) }

// gain is what the last move earned, with its sign; empty for nothing.
func (m *match) gain() string {
	if m.gained == 0 {
		return ""
	}
	return "+" + comma(m.gained)
}

// pair is a label and a value that belong together.
type pair struct{ label, value, extra string }

// cards draws pairs side by side on grounds of their own, over the whole width.
// Without colours they are two lines of text.
func (b *base) cards(width int, pairs ...pair) string {
	p := b.theme.palette()
	each := (width - 2*(len(pairs)-1)) / len(pairs)
	if p == nil || p.card == nil {
		labels, values := "", ""
		for _, c := range pairs {
			labels += pad(b.theme.dim().Render(c.label), each+2)
			values += pad(b.theme.bold().Render(c.value)+"  "+b.theme.good().Render(c.extra), each+2)
		}
		return strings.TrimRight(labels, " ") + "\n" + strings.TrimRight(values, " ")
	}
	pic := newCanvas(width, 4)
	for i, c := range pairs {
		x := i * (each + 2)
		pic.fill(image.Rect(x, 1, x+each, 7), p.card)
		pic.write(x+2, 1, c.label, p.dim, false)
		pic.write(x+2, 2, c.value, foreground, true)
		pic.write(x+4+len(c.value), 2, c.extra, p.good, true)
	}
	return pic.String()
}

// inline writes pairs on one line, as many as fit.
func (b *base) inline(width int, pairs ...pair) string {
	line := ""
	for _, c := range pairs {
		value := b.theme.bold().Render(c.value)
		if c.extra != "" {
			value += " " + b.theme.good().Render(c.extra)
		}
		text := b.theme.dim().Render(c.label) + " " + value
		switch {
		case line == "" && ansi.StringWidth(text) > width:
			return value
		case line == "":
			line = text
		case ansi.StringWidth(line)+3+ansi.StringWidth(text) <= width:
			line += "   " + text
		}
	}
	return line
}

// columns writes pairs below each other in two columns, label before value.
func (b *base) columns(width int, pairs ...pair) string {
	var lines []string
	for i := 0; i < len(pairs); i += 2 {
		line := ""
		for _, c := range pairs[i:min(i+2, len(pairs))] {
			line += pad(b.theme.dim().Render(pad(c.label, 7))+b.theme.bold().Render(c.value), width/2+1)
		}
		lines = append(lines, strings.TrimRight(line, " "))
	}
	return strings.Join(lines, "\n")
}

// commandLine is a command of this program, which names the server where it
// must.
func (b *base) commandLine(words ...string) string {
	if b.address != "" {
		words = append(words, "--server", b.address)
	}
	return "gridstand " + strings.Join(words, " ")
}

// command shows a command about a game under what it is for, in as many lines
// as its width takes. Where that is narrow, what it is for is left away.
func (b *base) command(width int, what, command, id string) string {
	lines := []string{"gridstand " + command}
	words := []string{id}
	// Of several servers any will do, and others need no more than one.
	address, _, _ := strings.Cut(b.address, ",")
	switch server := "--server " + address; {
	case address == "":
	case ansi.StringWidth(server) > width:
		words = append(words, "--server", address)
	default:
		words = append(words, server)
	}
	for _, word := range words {
		if last := &lines[len(lines)-1]; ansi.StringWidth(*last)+1+ansi.StringWidth(word) <= width {
			*last += " " + word
		} else {
			lines = append(lines, word)
		}
	}
	whole := b.theme.dim().Render(what)
	switch room := width - ansi.StringWidth(what) - 1; {
	case ansi.StringWidth(lines[0]) <= room:
		whole += " "
	case strings.Contains(lines[0], id):
		whole += "\n"
	default:
		whole = ""
	}
	for i, line := range lines {
		lines[i] = b.theme.bold().Render(line)
	}
	return whole + strings.Join(lines, "\n")
}

// verification shows the command that verifies a finished game.
func (b *base) verification(id string) string {
	text := b.theme.dim().Render("verify with gridstand verify") + "\n" + id
	if b.address != "" {
		text += "\n--server " + b.address
	}
	return text
}

// commandRows is how many rows a narrow panel gives to a command.
func (b *base) commandRows() int {
	if b.address != "" {
		return 3
	}
	return 2
}

// bestTile is the highest tile on the board, as it stands there.
func (m *match) bestTile() string { return strconv.Itoa(int(largest(m.board()))) }

// moves is the number of moves made.
func (m *match) moves() string { return comma(m.game.GetPosition().GetMoveCount()) }

// movesMade says how many moves were made.
func (m *match) movesMade() string { return plural(int(m.game.GetPosition().GetMoveCount()), "move") }

// plural is a number of things.
func plural(n int, thing string) string {
	return comma(int32(n)) + " " + english.PluralWord(n, thing, "")
}

// watching says how many watch.
func (m *match) watching() string {
	if n := m.game.GetWatchers(); n > 0 {
		return comma(n) + " watching"
	}
	return "no watchers"
}

// text says where somebody stands on the board of a window, "…" before that
// is known.
func (p *Place) text(window string) string {
	switch {
	case p == nil:
		return "… " + window
	case p.Rank == 0 && p.Total == 0:
		return "no scores " + window
	case p.Rank == 0:
		return "– of " + comma(p.Total) + " " + window
	default:
		return fmt.Sprintf("#%s of %s %s", comma(p.Rank), comma(p.Total), window)
	}
}

// brand is the program's name on the screen.
func (b *base) brand() string { return b.theme.accent().Bold(true).Render("GRIDSTAND") }

// arrow draws a direction.
func arrow(d pb.Direction) string {
	switch d {
	case pb.Direction_DIRECTION_UP:
		return "↑"
	case pb.Direction_DIRECTION_DOWN:
		return "↓"
	case pb.Direction_DIRECTION_LEFT:
		return "←"
	case pb.Direction_DIRECTION_RIGHT:
		return "→"
	default:
		return "·"
	}
}

// pad fills text up to width columns.
func pad(text string, width int) string {
	return text + strings.Repeat(" ", max(width-ansi.StringWidth(text), 0))
}

// stack puts blocks below each other with empty lines between them; where that
// is higher than height it leaves the empty lines away, then the last blocks,
// and of the first one the last lines.
func stack(height int, blocks ...string) string {
	var kept []string
	for _, block := range blocks {
		if block != "" {
			kept = append(kept, block)
		}
	}
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
