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
	// Content returns the title and the text of the box. The key esc closes it if the window is too small for it.
	Content(env *Env) (title, text string)
}

// Typing is implemented by dialogs for typing text. Input gets all keys except those that work on every page, and
// other messages, such as pasted text.
type Typing interface{ Input(msg tea.Msg) tea.Cmd }

// Columns and rows of a dialog's frame.
const (
	FrameWidth  = 4
	FrameHeight = 2
)

// Question is a dialog that lets the user choose, or confirm something that cannot be undone. Enter does not
// confirm it.
type Question struct {
	Title, Text string
	Choices     []Key  // in the box, so that the footer needs none
	No          string // what n and esc do: "play on"
}

// Yes returns the only choice of a Question that the user confirms. what is what y does: "give up".
func Yes(what string, do func() tea.Cmd) []Key {
	return []Key{On("y Y", "y", what, true, do)}
}

// Keys implements Dialog. Each key closes the question.
func (q *Question) Keys() KeyTable {
	no := On("n N esc q", "n esc", q.No, true, Run(nil))
	return KeyTable{convert.All(append(slices.Clone(q.Choices), no), Key.Closing)}
}

// Content implements Dialog. It truncates choices that do not fit, and leaves out the text in a low window.
func (q *Question) Content(env *Env) (title, text string) {
	const most = 48 // columns
	width := max(env.Width-FrameWidth, 0)
	choices := convert.All(q.Keys()[0], func(k Key) string {
		return ansi.Truncate(Choice(env.Theme, k.Help().Key, k.Help().Desc), width, "…")
	})
	list := strings.Join(choices, "\n")
	text = strings.Join(nonEmpty([]string{Wrap(q.Text, min(width, most)), list}), "\n\n")
	if lipgloss.Height(text)+FrameHeight > env.Height {
		text = list
	}
	return q.Title, text
}

// Choice draws a key followed by a description of what it does.
func Choice(t Theme, key, what string) string {
	return t.Accent().Render(key) + " " + t.Dim().Render(what)
}

// KeyLine returns the footer's line of keys, most important first. If the line is too long, the gaps
// between the keys shrink first. Then keys are dropped from the right, but the last two, which open
// the help and leave the page, are dropped last. A single key is truncated.
func KeyLine(t Theme, keys []key.Binding, width int) string {
	gap := "   "
	all := convert.All(keys, func(k key.Binding) string { return Choice(t, k.Help().Key, k.Help().Desc) })
	if lipgloss.Width(strings.Join(all, gap)) > width {
		gap = "  "
	}
	for len(all) > 1 && lipgloss.Width(strings.Join(all, gap)) > width {
		i := max(len(all)-3, 0)
		all = slices.Delete(all, i, i+1)
	}
	return ansi.Truncate(strings.Join(all, gap), width, "…")
}

// Text is a dialog with a text. Keys scroll it if it is taller than the window, and others close it.
type Text struct {
	Title string
	// Text returns the text for a window in which width columns are free.
	Text func(env *Env, width int) string

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

// Content implements Dialog.
func (d *Text) Content(env *Env) (title, text string) {
	const footer = 1 // The footer, with the dialog's keys, stays visible.
	room := max(env.Height-FrameHeight-footer, 1)
	text = d.Text(env, max(env.Width-FrameWidth, 1))
	if d.tall = lipgloss.Height(text) > room; !d.tall {
		return d.Title, text
	}
	d.view.SetWidth(lipgloss.Width(text))
	d.view.SetHeight(room)
	d.view.SetContent(text)
	if d.view.AtBottom() {
		return d.Title + " ↑", d.view.View()
	}
	return d.Title + " ↓", d.view.View()
}

// NewHelp returns the dialog that lists a page's own keys and the keys that work on every page, in several
// columns if they fit, otherwise in one, and names the help for what has no key. last is set if closing the page ends the program.
func NewHelp(keys func() KeyTable, last bool) *Text {
	return &Text{Title: "Keys", Text: func(env *Env, width int) string {
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
		if more := env.Command("--help"); more != "" {
			table += "\n\n" + t.Dim().Render("Verify, account, keys, hosting:") + "\n" + more
		}
		return Wrap(table, width)
	}}
}

// Header returns a line with the parts of left on the left and those of right on the right. If there is no room for all
// of them, it leaves out the first parts of left, then the last ones of right, and then truncates the last part of left.
func Header(width int, left, right []string) string {
	const between = "  "
	for n := len(right); ; n-- {
		end := strings.Join(right[:n], between)
		room := width - lipgloss.Width(end)
		for i := range left {
			if start := strings.Join(left[i:], between); lipgloss.Width(start+between) <= room {
				return Pad(start, room) + end
			}
		}
		if n <= 1 {
			start := ansi.Truncate(left[len(left)-1], max(room-len(between), 0), "…")
			return ansi.Truncate(Pad(start, room)+end, width, "…")
		}
	}
}
