package cli

import (
	"fmt"
	"math"
	"strings"

	"github.com/charmbracelet/x/ansi"
	"github.com/spf13/pflag"
	"google.golang.org/protobuf/proto"

	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/ui"
	"github.com/gridstand/gridstand/internal/convert"
)

// rightMark ends the title of a column that is aligned to the right, for numbers.
const rightMark = ">"

const columnGap = 2

// table formats rows under the columns' titles, which may end in rightMark. It cuts the lines at the width of
// the terminal.
func (p *program) table(columns []string, rows [][]string) string {
	width := p.columns(math.MaxInt)
	widths := make([]int, len(columns))
	titles := make([]string, len(columns))
	for i, c := range columns {
		titles[i] = strings.TrimSuffix(c, rightMark)
		widths[i] = ansi.StringWidth(titles[i])
		for _, row := range rows {
			widths[i] = max(widths[i], ansi.StringWidth(row[i]))
		}
	}
	var out strings.Builder
	line := func(cells []string) {
		var text strings.Builder
		for i, cell := range cells {
			if columns[i] != titles[i] {
				cell = strings.Repeat(" ", widths[i]-ansi.StringWidth(cell)) + cell
			}
			text.WriteString(ui.Pad(cell, widths[i]+columnGap))
		}
		out.WriteString(ansi.Truncate(strings.TrimRight(text.String(), " "), width, "…") + "\n")
	}
	line(titles)
	for _, row := range rows {
		line(row)
	}
	return out.String()
}

// list is a list of messages to print.
type list[M proto.Message] struct {
	all  []M
	more bool // whether there are more rows, which --limit shows
	// columns and row describe the table, and title and below are the lines around it. empty is the note in place
	// of an empty one.
	columns      []string
	row          func(M) []string
	title, below string
	empty        string
}

// print writes a list as JSON, one message per line, or as a table that fits the terminal.
func (l list[M]) print(p *program) error {
	if p.flags.json {
		for _, m := range l.all {
			if err := p.printMessage(m); err != nil {
				return err
			}
		}
		return nil
	}
	text, note := l.title, l.empty
	if len(l.all) > 0 {
		text, note = text+p.table(l.columns, convert.All(l.all, l.row))+l.below, ""
	}
	switch {
	case l.more && p.over != nil:
		note = "There are more."
	case l.more:
		note = fmt.Sprintf("There are more: --limit %d shows more, --limit 0 shows all.", 2*len(l.all))
	}
	err := p.printf("%s", text)
	if note != "" && err == nil {
		p.notef("%s", note)
	}
	return err
}

// addLimit adds the flag for the maximum number of rows. An SSH host has no such flag, because it holds the rows
// of all sessions in memory.
func (p *program) addLimit(flags *pflag.FlagSet, limit *int) {
	*limit = defaultLimit
	if p.over == nil {
		flags.IntVar(limit, "limit", defaultLimit, "maximum number of rows, 0 for all")
	}
}
