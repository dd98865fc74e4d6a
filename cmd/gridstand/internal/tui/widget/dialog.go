package widget

import (
	"strings"

	"charm.land/bubbles/v2/help"
	"charm.land/bubbles/v2/key"
	"charm.land/bubbles/v2/textinput"
	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/style"
)

// Box frames lines under a title, each centered.
func Box(t style.Theme, title, content string) string {
	frame := lipgloss.NewStyle().Border(lipgloss.RoundedBorder()).Padding(0, 1).Align(lipgloss.Center)
	if p := t.Palette(); p != nil {
		frame = frame.BorderForeground(p.Accent)
	}
	return frame.Render(t.Bold().Render(title) + "\n\n" + content)
}

// Choice is a key and what it does.
func Choice(t style.Theme, key, what string) string {
	return t.Accent().Render(key) + " " + t.Dim().Render(what)
}

// Question is asked before something is lost. Only its own key says yes; Enter does not.
type Question struct {
	Title, Text string
	Yes         string // what y does: "give up"
	No          string // what n and esc do
}

// Box draws the question.
func (q Question) Box(t style.Theme, width int) string {
	text := lipgloss.NewStyle().Align(lipgloss.Center).Render(Wrap(q.Text, min(width-6, 48)))
	return Box(t, q.Title, Lines(true, text, "", Choice(t, "y", q.Yes)+"     "+Choice(t, "n", q.No)))
}

// Brief is the question for a window that is too small for its box.
func (q Question) Brief() string { return q.Title + " y n" }

// InputStyles are the styles of a text field. Its cursor does not blink: that would cost
// a frame each time.
func InputStyles(t style.Theme) textinput.Styles {
	s := textinput.StyleState{Text: t.Bold(), Placeholder: t.Dim()}
	return textinput.Styles{Focused: s, Blurred: s, Cursor: textinput.CursorStyle{Color: t.Colors().Accent}}
}

// helpModel is the help in the theme's colors.
func helpModel(t style.Theme) help.Model {
	h := help.New()
	h.ShortSeparator = "   "
	h.Styles = help.Styles{
		Ellipsis: t.Faint(),
		ShortKey: t.Accent(), ShortDesc: t.Dim(), ShortSeparator: t.Faint(),
		FullKey: t.Accent(), FullDesc: t.Dim(), FullSeparator: t.Faint(),
	}
	return h
}

// KeyLine is the line of keys of the footer. If it is too long it loses keys from the
// left: the last ones leave the page.
func KeyLine(t style.Theme, keys help.KeyMap, width int) string {
	h, short := helpModel(t), keys.ShortHelp()
	for len(short) > 1 && ansi.StringWidth(h.ShortHelpView(short)) > width {
		short = short[1:]
	}
	return h.ShortHelpView(short)
}

// Help is the box of all keys, for a window of width × height: in columns side by side,
// in one column, or one key after the other, whichever fits.
func Help(t style.Theme, keys help.KeyMap, width, height int) string {
	const frameWidth, frameHeight = 6, 4
	h := helpModel(t)
	groups := keys.FullHelp()
	table := h.FullHelpView(groups)
	if lipgloss.Width(table)+frameWidth > width {
		var all []key.Binding
		for _, g := range groups {
			all = append(all, g...)
		}
		table = h.FullHelpView([][]key.Binding{all})
		if lipgloss.Height(table)+frameHeight > height {
			table = flow(h, all, width-frameWidth)
		}
	}
	return Box(t, "Keys", lipgloss.PlaceHorizontal(lipgloss.Width(table), lipgloss.Left, table))
}

// flow writes keys one after the other into lines of at most width columns.
func flow(h help.Model, keys []key.Binding, width int) string {
	var lines []string
	line := 0 // width of the last line
	for _, k := range keys {
		if !k.Enabled() {
			continue
		}
		text := h.ShortHelpView([]key.Binding{k})
		n := ansi.StringWidth(text)
		if len(lines) == 0 || line+2+n > width {
			lines, line = append(lines, text), n
			continue
		}
		lines[len(lines)-1] += "  " + text
		line += 2 + n
	}
	return strings.Join(lines, "\n")
}

// Header is a line with one of lefts at its left and one of rights at its right, each
// the longest first. It takes the first that fit, and rather shortens the left.
func Header(width int, lefts, rights []string) string {
	if len(rights) == 0 {
		rights = []string{""}
	}
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
