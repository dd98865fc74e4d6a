package tui

import (
	"fmt"
	"math"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/gridstand/gridstand/client"
)

// Measures of a screen, in columns and rows.
const (
	panelWidth    = 42 // holds a command with a whole id
	panelMinWidth = 26 // holds an id
	panelGap      = 2
	barRows       = 2 // the line above the board and the keys below it
)

// layout is where things go.
type layout struct {
	cell cellSize
	// wide puts the panel beside the board, else it is below.
	wide bool
	// panelWidth and panelHeight are the room of the panel.
	panelWidth, panelHeight int
	// spare is the rows that are left over.
	spare int
}

// layout finds the largest cells with which the board fits the window, beside
// a panel or above one of panelLines lines. Failing that the panel loses lines,
// and stands where more of them are left. It reports false where not even bare
// numbers fit.
func (b *base) layout(board picture, panelLines int) (layout, bool) {
	sizes, tight := board.sizes(b.theme)
	below := b.width // columns of a panel below the board
	if below > panelMinWidth+6 {
		below -= 2
	}
	for _, c := range sizes {
		width, height := board.size(c)
		spare := b.height - height - barRows
		if room := b.width - width - panelGap; room >= panelMinWidth && height >= 4 && spare >= 0 {
			return layout{cell: c, wide: true, panelWidth: min(room, panelWidth), panelHeight: height, spare: spare}, true
		}
		if spare -= panelLines; width <= b.width && spare >= 0 {
			return layout{cell: c, panelWidth: min(below, panelWidth), panelHeight: panelLines, spare: spare}, true
		}
	}
	for _, c := range tight {
		width, height := board.size(c)
		spare := b.height - height - barRows
		if room := b.width - width - panelGap; room >= panelMinWidth && spare >= 0 && height > spare {
			return layout{cell: c, wide: true, panelWidth: min(room, panelWidth), panelHeight: height, spare: spare}, true
		}
		if width <= b.width && spare >= 1 {
			return layout{cell: c, panelWidth: min(below, panelWidth), panelHeight: min(spare, panelLines)}, true
		}
	}
	return layout{}, false
}

// tooSmall is what a window shows that the board fits in at no size.
func (b *base) tooSmall(board picture) string {
	_, tight := board.sizes(b.theme)
	width, height := board.size(tight[len(tight)-1])
	return ansi.Hardwrap(fmt.Sprintf("needs %d×%d, has %d×%d", width, height+barRows+1, b.width, b.height), max(b.width, 1), false)
}

// page is what a screen puts together: a line above, the board, the panel, and
// the line of keys. A status line takes the place of an empty one, else that of
// the keys. The box lies over the board.
type page struct {
	head                     func(width int) string
	board, panel, bar, state string
	box                      string
	// click, where set, makes a command of a click on the board, at a column
	// and a row of it.
	click func(x, y int) tea.Cmd
}

// compose puts a page together and makes the terminal's view of it.
func (b *base) compose(l layout, p page) tea.View {
	boardWidth, _ := blockSize(p.board)
	width := max(boardWidth, l.panelWidth)
	var body string
	boardX := (width - boardWidth) / 2
	if l.wide {
		gap := min(b.width-boardWidth-l.panelWidth, panelGap+1)
		width, boardX = boardWidth+gap+l.panelWidth, 0
		body = lipgloss.JoinHorizontal(lipgloss.Top, p.board, strings.Repeat(" ", gap), p.panel)
	} else {
		body = indent(p.board, boardX) + "\n" + p.panel
		if l.spare >= 3 {
			body = indent(p.board, boardX) + "\n\n" + p.panel
		}
	}
	rows := []string{p.head(width)}
	if l.spare >= 2 {
		rows = append(rows, "")
	}
	rows = append(rows, body)
	switch {
	case l.spare >= 1:
		rows = append(rows, p.state, p.bar)
	case p.state != "":
		rows = append(rows, p.state)
	default:
		rows = append(rows, p.bar)
	}
	x := (b.width - width) / 2
	boxX := x + boardX + boardWidth/2
	if boxWidth, _ := blockSize(p.box); boxWidth > boardWidth+2*panelGap {
		boxX = b.width / 2
	}
	v := b.view(strings.Join(rows, "\n"), x, p.box, boxX)
	if p.click != nil && p.box == "" {
		top := max(b.height-lipgloss.Height(strings.Join(rows, "\n")), 0)/2 + 1
		if l.spare >= 2 {
			top++
		}
		v.MouseMode = tea.MouseModeCellMotion
		v.OnMouse = func(msg tea.MouseMsg) tea.Cmd {
			m, ok := msg.(tea.MouseClickMsg)
			if !ok || m.Button != tea.MouseLeft {
				return nil
			}
			return p.click(m.X-max(x, 0)-boardX, m.Y-top)
		}
	}
	return v
}

// cover lays the first of the boxes that fits the window over a page. Where
// none does, the status line says it in a few words.
func (b *base) cover(p *page, short string, boxes ...string) {
	for _, box := range boxes {
		if width, height := blockSize(box); width <= b.width && height <= b.height-barRows {
			p.box = box
			return
		}
	}
	p.state = b.theme.bold().Render(short)
	if short == "" {
		p.state = ""
	}
}

// view makes the terminal's view of content whose left edge is at column x. A
// box lies over it, its middle at column boxX. What is larger than the window
// is cut off.
func (b *base) view(content string, x int, box string, boxX int) tea.View {
	content = indent(content, x)
	if spare := b.height - lipgloss.Height(content); spare > 0 && !b.bare {
		content = strings.Repeat("\n", spare/2) + content
	}
	if box != "" {
		width, height := blockSize(box)
		content = lipgloss.NewCompositor(
			lipgloss.NewLayer(content),
			lipgloss.NewLayer(box).X(max(min(boxX-width/2, b.width-width), 0)).Y(max((b.height-height)/2, 0)).Z(1),
		).Render()
	}
	rows := strings.Split(content, "\n")
	rows = rows[:min(len(rows), max(b.height, 1))]
	for i, row := range rows {
		rows[i] = ansi.Truncate(row, b.width, "")
	}
	v := tea.NewView(strings.Join(rows, "\n"))
	v.AltScreen = true
	return v
}

// indent moves a block n columns to the right.
func indent(block string, n int) string {
	space := strings.Repeat(" ", max(n, 0))
	return space + strings.ReplaceAll(block, "\n", "\n"+space)
}

// box frames lines under a title, each in the middle.
func (b *base) box(title, content string) string {
	frame := lipgloss.NewStyle().Border(lipgloss.RoundedBorder()).Padding(0, 1).Align(lipgloss.Center)
	if p := b.theme.palette(); p != nil {
		frame = frame.BorderForeground(p.accent)
	}
	return frame.Render(b.theme.bold().Render(title) + "\n\n" + content)
}

// header is the line above the board: what is played at the left, how the
// picture stands at the right. Of the texts for each side, the longest first,
// it takes those that fit, and rather shortens the left one.
func header(width int, lefts, rights []string) string {
	for _, right := range rights {
		for _, left := range lefts {
			gap := width - ansi.StringWidth(left) - ansi.StringWidth(right)
			if gap >= 2 || left == "" && gap >= 0 {
				return left + strings.Repeat(" ", gap) + right
			}
		}
	}
	return ansi.Truncate(rights[len(rights)-1], width, "…")
}

// badge says whether the picture is live.
func (m *match) badge(b *base) string {
	switch {
	case m.over():
		return b.theme.dim().Render("■ finished")
	case m.lost:
		return b.theme.bad().Render("◌ ended")
	case m.connection.State == client.Reconnecting:
		text := "◌ reconnecting"
		if left := m.connection.Delay - b.now.Sub(m.connectionTime); left > 0 {
			text += fmt.Sprintf(" (%d s)", int(math.Ceil(left.Seconds())))
		}
		return b.theme.warn().Render(text)
	case m.connection.State == client.Connecting:
		return b.theme.dim().Render("◌ connecting")
	case m.skipped > 0 && b.now.Sub(m.skippedTime) < behindTime:
		return b.theme.warn().Render(fmt.Sprintf("▲ behind, skipped %d", m.skipped))
	default:
		return b.theme.good().Render("● live")
	}
}

// behindTime is how long the badge says that events were left out.
const behindTime = 4 * time.Second

// blockSize is the columns and rows of a block of text.
func blockSize(s string) (width, height int) { return lipgloss.Size(s) }
