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

// EdgeWidth is the width of an edge of a pane without its two labels, titleWidth that around a single one: on each
// side, a corner, a line and a space.
const (
	EdgeWidth  = 9
	titleWidth = 6
)

// edgeLine returns an edge of a pane with a label on the left and one on the right. The
// right label is left out if there is no room for it.
func edgeLine(edge lipgloss.Style, from, to, left, right string, width int) string {
	label := func(text string) string {
		if text == "" {
			return ""
		}
		return edge.Render("─") + " " + text + " "
	}
	left = label(ansi.Truncate(left, max(width-titleWidth, 0), "…"))
	right = label(right)
	gap := width - 3 - lipgloss.Width(left) - lipgloss.Width(right)
	if gap < 0 {
		right, gap = "", width-3-lipgloss.Width(left)
	}
	return edge.Render(from) + left + edge.Render(strings.Repeat("─", max(gap, 0))) + right + edge.Render("─"+to)
}

// Column describes a column of a table of items. A space follows it.
type Column[T any] struct {
	Title string
	// Width is the number of terminal columns. A column of width 0 takes the width that the
	// other columns leave.
	Width int
	// Right aligns the column to the right, for numbers.
	Right bool
	// Cell returns an item's cell.
	Cell func(item T) Value
}

// Texts returns a column of texts.
func Texts[T any](title string, width int, cell func(T) Value) Column[T] {
	return Column[T]{Title: title, Width: width, Cell: cell}
}

// Numbers returns a column of numbers.
func Numbers[T any](title string, width int, cell func(T) Value) Column[T] {
	return Column[T]{Title: title, Width: width, Right: true, Cell: cell}
}

// Value is the text of a table cell and its style.
type Value struct {
	Text  string
	Style lipgloss.Style
}

// Render returns the styled text.
func (v Value) Render() string { return v.Style.Render(v.Text) }

// Table is a list of items under column headings, for a Flush pane. It holds no state. It
// replaces the table of package bubbles, which does not scroll to the row selected by
// SetCursor, cannot align numbers to the right, and interrupts the highlight of the
// selected row at every styled cell.
type Table[T any] struct {
	Columns []Column[T]
	Items   []T
}

// Left returns the width that columns leave for the one of width 0 in a table of the given width.
func Left[T any](columns []Column[T], width int) int {
	left := width - 1 // the mark
	for _, c := range columns {
		left -= c.Width + 1
	}
	return max(left, 0)
}

// Draw draws as many rows around the selected one as fit in width × height, below the headings if there is room for
// two rows. selected may be -1. focused is set if the table has the focus.
func (b Table[T]) Draw(t Theme, selected int, focused bool, width, height int) string {
	plain := lipgloss.NewStyle()
	var lines []string
	room := max(height, 1)
	if height > 2 {
		lines = append(lines, b.line(t, func(c Column[T]) Value { return Value{c.Title, t.Dim()} }, width, " ", plain))
		room--
	}
	first := max(min(selected-room/2, len(b.Items)-room), 0)
	for i := first; i < min(first+room, len(b.Items)); i++ {
		mark, ground := " ", plain
		if i == selected {
			ground = t.Bar(focused)
			if focused {
				mark = "▸"
			}
		}
		lines = append(lines, b.line(t, func(c Column[T]) Value { return c.Cell(b.Items[i]) }, width, mark, ground))
	}
	return strings.Join(lines, "\n")
}

// line returns a row of a table of the given width.
func (b Table[T]) line(t Theme, cell func(Column[T]) Value, width int, mark string, ground lipgloss.Style) string {
	var out strings.Builder
	out.WriteString(ground.Render(mark))
	for _, c := range b.Columns {
		room := c.Width
		if room == 0 {
			room = Left(b.Columns, width)
		}
		value := cell(c)
		text, ink := Cell(value.Text, room), value.Style
		if c.Right {
			text = strings.TrimRight(text, " ")
			text = strings.Repeat(" ", max(room-lipgloss.Width(text), 0)) + text
		}
		if mark != " " && ink.GetForeground() == t.Dim().GetForeground() {
			ink = lipgloss.NewStyle() // dim text would be hard to read on the bar
		}
		out.WriteString(ink.Inherit(ground).Render(text))
		out.WriteString(ground.Render(" "))
	}
	return out.String()
}
