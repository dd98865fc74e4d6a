package ui

import (
	"slices"
	"strings"

	"charm.land/bubbles/v2/help"
	"charm.land/bubbles/v2/key"
	"charm.land/bubbles/v2/textinput"
	"charm.land/bubbles/v2/viewport"
	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"
)

// Box draws a frame around a title and the content below it, all centered.
func Box(t Theme, title, content string) string {
	frame := lipgloss.NewStyle().Border(lipgloss.RoundedBorder()).Padding(0, 1).Align(lipgloss.Center)
	return frame.BorderForeground(t.Colors().Accent).Render(t.Bold().Render(title) + "\n\n" + content)
}

// Choice draws a key followed by a description of what it does.
func Choice(t Theme, key, what string) string {
	return t.Accent().Render(key) + " " + t.Dim().Render(what)
}

// InputStyles returns the styles of a text field. Its cursor does not blink, because each
// blink would draw a frame.
func InputStyles(t Theme) textinput.Styles {
	s := textinput.StyleState{Text: t.Bold(), Placeholder: t.Dim()}
	return textinput.Styles{Focused: s, Blurred: s, Cursor: textinput.CursorStyle{Color: t.Colors().Accent}}
}

// KeyLine returns the footer's line of keys, most important first. If the line is too long, keys
// are dropped from the right, but the last two, which open the help and leave the page, are dropped
// last. A single key is truncated.
func KeyLine(t Theme, keys []key.Binding, width int) string {
	const gap = "   "
	var all []string
	line := -len(gap) // width of the line
	for _, k := range keys {
		if k.Enabled() {
			h := k.Help()
			all = append(all, Choice(t, h.Key, h.Desc))
			line += len(gap) + lipgloss.Width(h.Key+" "+h.Desc)
		}
	}
	for len(all) > 1 && line > width {
		i := max(len(all)-3, 0)
		line -= len(gap) + lipgloss.Width(all[i])
		all = slices.Delete(all, i, i+1)
	}
	text := strings.Join(all, t.Faint().Render(gap))
	if line > width {
		text = ansi.Truncate(text, width, "…")
	}
	return text
}

// Scroll is the position in a text that may be taller than the window.
type Scroll struct {
	view viewport.Model
	tall bool // whether the text was taller than the window when it was last drawn
}

// NewScroll returns the position at the top.
func NewScroll() *Scroll { return &Scroll{view: viewport.New()} }

// Key scrolls. It returns false if the key does not scroll, or if the whole text is visible.
func (s *Scroll) Key(msg tea.KeyPressMsg) bool {
	k := s.view.KeyMap
	if !s.tall || !Pressed(msg, k.Up, k.Down, k.PageUp, k.PageDown) {
		return false
	}
	s.view, _ = s.view.Update(msg)
	return true
}

// Keys returns the keys that scroll and close the text.
func (s *Scroll) Keys() KeyMap {
	if s.tall {
		return Keys(Bind("↑ ↓", "scroll"), Bind("other keys", "close"))
	}
	return Keys(Bind("any key", "close"))
}

// helpBox returns the box that lists all keys, for a window of width × height: in several columns if
// they fit, otherwise in one column, cut off at the window's edge. If the box is too tall, it shows the part at
// the given position.
func helpBox(t Theme, groups [][]key.Binding, width, height int, at *Scroll) string {
	const frameWidth, frameHeight = 4, 4
	h := help.New()
	h.Styles = help.Styles{FullKey: t.Accent(), FullDesc: t.Dim(), FullSeparator: t.Faint()}
	table := h.FullHelpView(groups)
	if lipgloss.Width(table)+frameWidth > width {
		table = h.FullHelpView([][]key.Binding{slices.Concat(groups...)})
	}
	table = lipgloss.NewStyle().MaxWidth(width - frameWidth).Render(table)
	title, room := "Keys", max(height-frameHeight, 1)
	if at.tall = lipgloss.Height(table) > room; at.tall {
		at.view.SetWidth(lipgloss.Width(table))
		at.view.SetHeight(room)
		at.view.SetContent(table)
		table = at.view.View()
		title = "Keys ↓"
		if at.view.AtBottom() {
			title = "Keys ↑"
		}
	}
	return Box(t, title, lipgloss.PlaceHorizontal(lipgloss.Width(table), lipgloss.Left, table))
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
