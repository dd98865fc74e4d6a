package ui

import (
	"strings"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"
)

// Pane is a framed part of a page.
type Pane struct {
	// Titles are shown in the upper edge, with the active one highlighted. The other titles
	// name the panes that the user can switch to.
	Titles []string
	Active int
	// Corner is shown at the right end of the upper edge, Foot at the right end of the
	// lower edge.
	Corner, Foot string
	// Focused is set if the pane has the focus.
	Focused bool
	// Flush leaves no space between the content and the edges. It is for tables.
	Flush bool
}

// Draw draws the pane, which takes width × height including its frame. The content is
// truncated or padded to fit.
func (p Pane) Draw(t Theme, content string, width, height int) string {
	edge, active := t.Faint(), t.Bold()
	if p.Focused {
		edge, active = t.Accent(), t.Accent().Bold(true)
	}
	var titles []string
	for i, title := range p.Titles {
		if i == p.Active {
			title = active.Render(title)
		} else {
			title = t.Dim().Render(title)
		}
		titles = append(titles, title)
	}
	side, gap := edge.Render("│"), " "
	if p.Flush {
		gap = ""
	}
	room := max(width-2-2*len(gap), 0)
	lines := []string{edgeLine(edge, "╭", "╮", strings.Join(titles, edge.Render(" ─ ")), p.Corner, width)}
	for line := range strings.SplitSeq(Block(content, room, max(height-2, 0)), "\n") {
		lines = append(lines, side+gap+line+gap+side)
	}
	return strings.Join(append(lines, edgeLine(edge, "╰", "╯", "", p.Foot, width)), "\n")
}

// EdgeWidth is the width of an edge of a pane without its two labels.
const EdgeWidth = 9

// edgeLine returns an edge of a pane with a label on the left and one on the right. The
// right label is left out if there is no room for it.
func edgeLine(edge lipgloss.Style, from, to, left, right string, width int) string {
	const around = 6 // on each side, a corner, a line and a space
	label := func(text string) string {
		if text == "" {
			return ""
		}
		return edge.Render("─") + " " + text + " "
	}
	left = label(ansi.Truncate(left, max(width-around, 0), "…"))
	right = label(right)
	gap := width - 3 - lipgloss.Width(left) - lipgloss.Width(right)
	if gap < 0 {
		right, gap = "", width-3-lipgloss.Width(left)
	}
	return edge.Render(from) + left + edge.Render(strings.Repeat("─", max(gap, 0))) + right + edge.Render("─"+to)
}

// Column describes a column of a table. A space follows it.
type Column struct {
	Title string
	// Width is the number of terminal columns. A column of width 0 takes the width that the
	// other columns leave.
	Width int
	// Right aligns the column to the right, for numbers.
	Right bool
}

// Value is the text of a table cell and its style.
type Value struct {
	Text  string
	Style lipgloss.Style
}

// Table is a list of rows under column headings, for a Flush pane. It holds no state. It
// replaces the table of package bubbles, which does not scroll to the row selected by
// SetCursor, cannot align numbers to the right, and interrupts the highlight of the
// selected row at every styled cell.
type Table struct {
	Columns []Column
	Rows    [][]Value
	// Selected is the row with the cursor.
	Selected int
	// Focused is set if the table has the focus.
	Focused bool
}

// Left returns the width that remains for the column of width 0 in a table of the given
// width.
func (b Table) Left(width int) int {
	left := width - 1 // the mark
	for _, c := range b.Columns {
		left -= c.Width + 1
	}
	return max(left, 0)
}

// Draw draws the headings and as many rows around the selected one as fit in width ×
// height.
func (b Table) Draw(t Theme, width, height int) string {
	left := b.Left(width)
	heads := make([]Value, 0, len(b.Columns))
	for _, c := range b.Columns {
		heads = append(heads, Value{c.Title, t.Dim()})
	}
	plain := lipgloss.NewStyle()
	lines := []string{b.line(t, heads, left, " ", plain)}
	room := max(height-1, 1)
	first := max(min(b.Selected-room/2, len(b.Rows)-room), 0)
	for i := first; i < min(first+room, len(b.Rows)); i++ {
		mark, ground := " ", plain
		if i == b.Selected {
			ground = t.Bar(b.Focused)
			if b.Focused {
				mark = "▸"
			}
		}
		lines = append(lines, b.line(t, b.Rows[i], left, mark, ground))
	}
	return strings.Join(lines, "\n")
}

// line returns a row of the table. left is the width to use for the column of width 0.
func (b Table) line(t Theme, values []Value, left int, mark string, ground lipgloss.Style) string {
	var out strings.Builder
	out.WriteString(ground.Render(mark))
	for i, c := range b.Columns {
		width := c.Width
		if width == 0 {
			width = left
		}
		text := Cell(values[i].Text, width)
		if c.Right {
			text = strings.TrimRight(text, " ")
			text = strings.Repeat(" ", max(width-lipgloss.Width(text), 0)) + text
		}
		ink := values[i].Style
		if mark != " " && ink.GetForeground() == t.Dim().GetForeground() {
			ink = lipgloss.NewStyle() // dim text would be hard to read on the bar
		}
		out.WriteString(ink.Inherit(ground).Render(text))
		out.WriteString(ground.Render(" "))
	}
	return out.String()
}
