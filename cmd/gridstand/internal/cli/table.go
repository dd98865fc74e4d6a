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
	// drop is the order in which columns are removed if the table is too wide, starting
	// with the highest value. Columns with 0 are never removed.
	drop int
	// flexible marks a column that is narrowed if the table is still too wide.
	flexible bool
}

const columnGap = 2

// minFlexible is the minimum width of a narrowed column.
const minFlexible = 8

// table formats rows under the columns' titles, which are bold if bold is set. Lines are
// at most width cells wide, unless width is 0.
func table(columns []column, rows [][]string, width int, bold bool) string {
	widths := make([]int, len(columns))
	for i, c := range columns {
		if c.id {
			rows = withShortIDs(rows, i)
		}
		widths[i] = ansi.StringWidth(c.title)
		for _, row := range rows {
			widths[i] = max(widths[i], ansi.StringWidth(row[i]))
		}
	}
	shown := fit(columns, widths, width)

	var out strings.Builder
	line := func(cells []string, style lipgloss.Style) {
		var text strings.Builder
		for n, i := range shown {
			if n > 0 {
				text.WriteString(strings.Repeat(" ", columnGap))
			}
			cell := ansi.Truncate(cells[i], widths[i], "…")
			space := strings.Repeat(" ", widths[i]-ansi.StringWidth(cell))
			if columns[i].right {
				cell = space + cell
			} else {
				cell += space
			}
			text.WriteString(cell)
		}
		out.WriteString(style.Render(strings.TrimRight(text.String(), " ")) + "\n")
	}
	titles := make([]string, len(columns))
	for i, c := range columns {
		titles[i] = c.title
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

// fit returns the columns to show, and reduces the widths of flexible columns in widths.
func fit(columns []column, widths []int, width int) []int {
	var shown []int
	total := -columnGap
	for i := range columns {
		shown = append(shown, i)
		total += widths[i] + columnGap
	}
	if width <= 0 {
		return shown
	}
	for total > width {
		worst := 0
		for n, i := range shown {
			if columns[i].drop > columns[shown[worst]].drop {
				worst = n
			}
		}
		if columns[shown[worst]].drop == 0 {
			break
		}
		total -= widths[shown[worst]] + columnGap
		shown = append(shown[:worst], shown[worst+1:]...)
	}
	for _, i := range shown {
		if columns[i].flexible && total > width {
			narrow := max(widths[i]-(total-width), minFlexible)
			total -= widths[i] - min(narrow, widths[i])
			widths[i] = min(narrow, widths[i])
		}
	}
	return shown
}

// printTable writes a table that fits the terminal.
func (p *program) printTable(columns []column, rows [][]string) error {
	width := 0
	if p.terminal(p.out) {
		width = p.width()
	}
	return p.printf("%s", table(columns, rows, width, p.terminal(p.out) && !p.plain()))
}
