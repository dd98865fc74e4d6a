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
	// id columns have ids, each cut to the characters that tell it from the others.
	id bool
	// right aligns it to the right, as numbers are.
	right bool
	// drop is the order in which columns are left out if the table is too wide: the
	// highest first, 0 never.
	drop int
	// flexible columns are cut if the table is still too wide.
	flexible bool
}

const columnGap = 2

// minFlexible is the smallest width to which a column is cut.
const minFlexible = 8

// table lays out rows under their titles, in at most width columns if that is not 0.
// Bold titles are for terminals.
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

// minShortID is the shortest prefix of an id that a command takes.
const minShortID = 6

// withShortIDs returns rows with the ids of a column cut to the same length: the
// shortest at which different ids stay different.
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

// fit returns the columns that are shown, and narrows the flexible ones in widths.
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

// printTable writes a table for the terminal that it goes to.
func (p *program) printTable(columns []column, rows [][]string) error {
	width := 0
	if p.terminal(p.out) {
		width = p.width()
	}
	return p.printf("%s", table(columns, rows, width, p.terminal(p.out) && !p.plain()))
}
