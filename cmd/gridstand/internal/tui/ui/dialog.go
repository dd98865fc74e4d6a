package ui

import (
	"slices"
	"strings"

	"charm.land/bubbles/v2/help"
	"charm.land/bubbles/v2/key"
	"charm.land/bubbles/v2/viewport"
	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/gridstand/gridstand/internal/convert"
)

// Dialog is a box over a page. It gets all keys for the page until it closes.
type Dialog interface {
	// Keys returns the dialog's keys, with their actions and footer.
	Keys() KeyTable
	// Box draws the dialog. The key esc closes it if the window is too small for it.
	Box(env *Env) string
}

// Question is a dialog that lets the user choose, or confirm something that cannot be undone. Enter does not
// confirm it.
type Question struct {
	Title, Text string
	Choices     []Key  // all are in the box, and those with a place in the footer also there
	No          string // what n and esc do: "play on"
}

// Yes returns the only choice of a Question that the user confirms. what is what y does: "give up".
func Yes(what string, do func() tea.Cmd) []Key {
	return []Key{On("y Y", "y", what, true, do).Footer(1)}
}

// Keys implements Dialog. Each key closes the question.
func (q *Question) Keys() KeyTable {
	no := On("n N esc q", "n esc", q.No, true, Run(nil)).Footer(len(q.Choices) + 1)
	return KeyTable{convert.All(append(slices.Clone(q.Choices), no), Key.Closing)}
}

// Box implements Dialog. It lists several choices below each other, and truncates what does not fit.
func (q *Question) Box(env *Env) string {
	const frameWidth = 4
	choices := convert.All(q.Choices, func(k Key) string {
		return ansi.Truncate(Choice(env.Theme, k.Help().Key, k.Help().Desc), max(env.Width-frameWidth, 0), "…")
	})
	gap := "\n"
	if len(choices) == 1 {
		choices, gap = append(choices, Choice(env.Theme, "n", q.No)), "     "
	}
	list := lipgloss.NewStyle().Align(lipgloss.Left).Render(strings.Join(choices, gap))
	text := lipgloss.NewStyle().Align(lipgloss.Center).Render(Wrap(q.Text, min(env.Width-6, 48)))
	return Box(env.Theme, q.Title, strings.Join(nonEmpty([]string{text, list}), "\n\n"))
}

// Box draws a frame around a title and the content below it, all centered.
func Box(t Theme, title, content string) string {
	frame := lipgloss.NewStyle().Border(lipgloss.RoundedBorder()).Padding(0, 1).Align(lipgloss.Center)
	return frame.BorderForeground(t.Colors().Accent).Render(t.Bold().Render(title) + "\n\n" + content)
}

// Choice draws a key followed by a description of what it does.
func Choice(t Theme, key, what string) string {
	return t.Accent().Render(key) + " " + t.Dim().Render(what)
}

// KeyLine returns the footer's line of keys, most important first. If the line is too long, keys
// are dropped from the right, but the last two, which open the help and leave the page, are dropped
// last. A single key is truncated.
func KeyLine(t Theme, keys []key.Binding, width int) string {
	gap := t.Faint().Render("   ")
	all := convert.All(keys, func(k key.Binding) string { return Choice(t, k.Help().Key, k.Help().Desc) })
	for len(all) > 1 && lipgloss.Width(strings.Join(all, gap)) > width {
		i := max(len(all)-3, 0)
		all = slices.Delete(all, i, i+1)
	}
	return ansi.Truncate(strings.Join(all, gap), width, "…")
}

// Text is a dialog with a text. Keys scroll it if it is taller than the window, and others close it.
type Text struct {
	Title string
	// Content returns the text for a window in which width columns are free.
	Content func(env *Env, width int) string

	view viewport.Model
	tall bool // whether it was taller than the window when it was last drawn
}

// Keys implements Dialog.
func (d *Text) Keys() KeyTable {
	if !d.tall {
		return KeyTable{{On("", "any key", "close", true, Run(nil)).Footer(1).Closing()}}
	}
	scroll := func(keys string, do func()) Key { return Unlisted(keys, func() tea.Cmd { do(); return nil }) }
	return KeyTable{{
		Listed("↑ ↓", "scroll").Footer(1),
		scroll("up k", func() { d.view.ScrollUp(1) }), scroll("down j", func() { d.view.ScrollDown(1) }),
		scroll("pgup", d.view.PageUp), scroll("pgdown space", d.view.PageDown),
		scroll("home", func() { d.view.GotoTop() }), scroll("end", func() { d.view.GotoBottom() }),
		On("", "other keys", "close", true, Run(nil)).Footer(2).Closing(),
	}}
}

// Box implements Dialog.
func (d *Text) Box(env *Env) string {
	const frameWidth, frameHeight, footer = 4, 4, 1 // The footer, with the dialog's keys, stays visible.
	title, room := d.Title, max(env.Height-frameHeight-footer, 1)
	content := d.Content(env, max(env.Width-frameWidth, 1))
	content = Block(content, lipgloss.Width(content), lipgloss.Height(content)) // so that it is not centered
	if d.tall = lipgloss.Height(content) > room; d.tall {
		d.view.SetWidth(lipgloss.Width(content))
		d.view.SetHeight(room)
		d.view.SetContent(content)
		content, title = d.view.View(), d.Title+" ↓"
		if d.view.AtBottom() {
			title = d.Title + " ↑"
		}
	}
	return Box(env.Theme, title, content)
}

// NewHelp returns the dialog that lists a page's own keys and the keys that work on every page, in several
// columns if they fit, otherwise in one. last is set if closing the page ends the program.
func NewHelp(keys func() KeyTable, last bool) *Text {
	return &Text{Title: "Keys", Content: func(env *Env, width int) string {
		suspend := SuspendKey
		suspend.SetEnabled(!env.Remote)
		_, groups := keys().shown(last)
		groups = append(groups, []key.Binding{HelpKey, suspend, InterruptKey})
		t, list := env.Theme, help.New()
		list.Styles = help.Styles{FullKey: t.Accent(), FullDesc: t.Dim(), FullSeparator: t.Faint()}
		table := list.FullHelpView(groups)
		if lipgloss.Width(table) > width {
			table = list.FullHelpView([][]key.Binding{slices.Concat(groups...)})
		}
		return lipgloss.NewStyle().MaxWidth(width).Render(table)
	}}
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
			gap := width - lipgloss.Width(left) - lipgloss.Width(right)
			if gap >= 2 || left == "" && gap >= 0 {
				return left + strings.Repeat(" ", gap) + right
			}
		}
	}
	return ansi.Truncate(rights[len(rights)-1], width, "…")
}
