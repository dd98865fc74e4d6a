package widget

import (
	"strings"

	"charm.land/bubbles/v2/help"
	"charm.land/bubbles/v2/key"
	"charm.land/bubbles/v2/textinput"
	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/style"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/ui"
)

// Box draws a frame around a title and the content below it, all centered.
func Box(t style.Theme, title, content string) string {
	frame := lipgloss.NewStyle().Border(lipgloss.RoundedBorder()).Padding(0, 1).Align(lipgloss.Center)
	return frame.BorderForeground(t.Colors().Accent).Render(t.Bold().Render(title) + "\n\n" + content)
}

// Choice draws a key followed by a description of what it does.
func Choice(t style.Theme, key, what string) string {
	return t.Accent().Render(key) + " " + t.Dim().Render(what)
}

// Question asks the user to confirm something that cannot be undone. Only y confirms; Enter
// does not.
type Question struct {
	Title, Text string
	Yes         string // what y does: "give up"
	No          string // what n and esc do: "play on"
	Then        func() tea.Cmd
}

// Answer handles a key while a question is open. If the key answers the question, Answer sets
// *open to nil, and calls Then if the answer is yes.
func Answer(open **Question, msg tea.KeyPressMsg) tea.Cmd {
	q := *open
	switch msg.String() {
	case "y", "Y":
		*open = nil
		return q.Then()
	case "n", "N", "esc", "q":
		*open = nil
	}
	return nil
}

// Keys returns the keys that answer the question.
func (q *Question) Keys() ui.KeyMap { return ui.Keys(ui.Bind("y", q.Yes), ui.Bind("n esc", q.No)) }

// Ask adds the question to the view of a page.
func (q *Question) Ask(env *ui.Env, v *ui.View) {
	t := env.Theme
	text := lipgloss.NewStyle().Align(lipgloss.Center).Render(Wrap(q.Text, min(env.Width-6, 48)))
	v.Dialog = Box(t, q.Title, Lines(true, text, "", Choice(t, "y", q.Yes)+"     "+Choice(t, "n", q.No)))
	v.Brief = q.Title + " y n"
}

// InputStyles returns the styles of a text field. Its cursor does not blink, because each
// blink would draw a frame.
func InputStyles(t style.Theme) textinput.Styles {
	s := textinput.StyleState{Text: t.Bold().Lipgloss(), Placeholder: t.Dim().Lipgloss()}
	return textinput.Styles{Focused: s, Blurred: s, Cursor: textinput.CursorStyle{Color: t.Colors().Accent}}
}

// KeyLine returns the footer's line of keys. If the line is too long, keys are dropped from
// the left, since the keys that leave the page come last. A single key is truncated.
func KeyLine(t style.Theme, keys []key.Binding, width int) string {
	const gap = "   "
	var all []string
	line := -len(gap) // width of the line
	for _, k := range keys {
		if k.Enabled() {
			h := k.Help()
			all = append(all, Choice(t, h.Key, h.Desc))
			line += len(gap) + style.Width(h.Key+" "+h.Desc)
		}
	}
	for len(all) > 1 && line > width {
		line -= len(gap) + style.Width(all[0])
		all = all[1:]
	}
	text := strings.Join(all, t.Faint().Render(gap))
	if line > width {
		text = ansi.Truncate(text, width, "…")
	}
	return text
}

// Help returns the box that lists all keys, for a window of width × height. It uses the
// first layout that fits: several columns, one column or running text.
func Help(t style.Theme, groups [][]key.Binding, width, height int) string {
	const frameWidth, frameHeight = 6, 4
	h := help.New()
	h.Styles = help.Styles{FullKey: t.Accent().Lipgloss(), FullDesc: t.Dim().Lipgloss(), FullSeparator: t.Faint().Lipgloss()}
	table := h.FullHelpView(groups)
	if lipgloss.Width(table)+frameWidth > width {
		var all []key.Binding
		for _, g := range groups {
			all = append(all, g...)
		}
		table = h.FullHelpView([][]key.Binding{all})
		if lipgloss.Height(table)+frameHeight > height {
			table = flow(t, all, width-frameWidth)
		}
	}
	return Box(t, "Keys", lipgloss.PlaceHorizontal(lipgloss.Width(table), lipgloss.Left, table))
}

// flow writes the keys as running text, in lines of at most width columns.
func flow(t style.Theme, keys []key.Binding, width int) string {
	const unbreakable = "\u00a0"
	var all []string
	for _, k := range keys {
		if k.Enabled() {
			all = append(all, strings.ReplaceAll(Choice(t, k.Help().Key, k.Help().Desc), " ", unbreakable))
		}
	}
	return strings.ReplaceAll(Wrap(strings.Join(all, "  "), width), unbreakable, " ")
}

// Header returns a line with one of lefts on the left and one of rights on the right. Both
// list alternatives, longest first. Header uses the first ones that fit, and shortens the
// left side before the right.
func Header(width int, lefts, rights []string) string {
	if len(rights) == 0 {
		rights = []string{""}
	}
	for _, right := range rights {
		for _, left := range lefts {
			gap := width - style.Width(left) - style.Width(right)
			if gap >= 2 || left == "" && gap >= 0 {
				return left + strings.Repeat(" ", gap) + right
			}
		}
	}
	return ansi.Truncate(rights[len(rights)-1], width, "…")
}
