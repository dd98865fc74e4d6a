package cli

import (
	"slices"
	"strings"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/gridstand/gridstand/internal/id"
)

// column is a column of a table.
type column struct {
	title string
	// id marks a column of ids. They are truncated to the shortest length that keeps them
	// distinct.
	id bool
	// right aligns the column to the right, for numbers.
	right bool
}

const columnGap = 2

// table formats rows under the columns' titles, which are bold if bold is set. Lines are cut after
// width cells, unless width is 0.
func table(columns []column, rows [][]string, width int, bold bool) string {
	widths := make([]int, len(columns))
	titles := make([]string, len(columns))
	for i, c := range columns {
		if c.id {
			rows = withShortIDs(rows, i)
		}
		titles[i], widths[i] = c.title, ansi.StringWidth(c.title)
		for _, row := range rows {
			widths[i] = max(widths[i], ansi.StringWidth(row[i]))
		}
	}
	var out strings.Builder
	line := func(cells []string, style lipgloss.Style) {
		var text strings.Builder
		for i, cell := range cells {
			space := strings.Repeat(" ", widths[i]-ansi.StringWidth(cell))
			if columns[i].right {
				cell = space + cell
			} else {
				cell += space
			}
			text.WriteString(cell + strings.Repeat(" ", columnGap))
		}
		shown := strings.TrimRight(text.String(), " ")
		if width > 0 {
			shown = ansi.Truncate(shown, width, "…")
		}
		out.WriteString(style.Render(shown) + "\n")
	}
	line(titles, lipgloss.NewStyle().Bold(bold))
	for _, row := range rows {
		line(row, lipgloss.NewStyle())
	}
	return out.String()
}

// minShortID is the length of the shortest id prefix that a command accepts.
const minShortID = 6

// withShortIDs returns rows with the ids in a column truncated to the shortest length that
// keeps them distinct.
func withShortIDs(rows [][]string, column int) [][]string {
	whole := map[string]bool{}
	for _, row := range rows {
		whole[row[column]] = true
	}
	for length := minShortID; ; length++ {
		short := make([][]string, len(rows))
		seen := map[string]bool{}
		for i, row := range rows {
			short[i] = slices.Clone(row)
			short[i][column] = clean(row[column], length)
			seen[short[i][column]] = true
		}
		if len(seen) == len(whole) || length >= id.Length {
			return short
		}
	}
}

// printTable writes a table that fits the terminal. more reports whether a list has more rows, which
// --limit shows.
func (p *program) printTable(columns []column, rows [][]string, more bool) error {
	if more {
		defer p.notef("There are more: --limit %d shows more, --limit 0 shows all.", 2*len(rows))
	}
	width := 0
	if p.terminal(p.out) {
		width = p.width()
	}
	return p.printf("%s", table(columns, rows, width, p.terminal(p.out) && !p.plain()))
}
