package ui

import (
	"strings"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"
)

// margin is the number of empty columns at each edge of the window.
const margin = 1

// Draw draws a page and the window around it. last is set if closing the page ends the program.
func Draw(env *Env, p Page, last bool) tea.View {
	v, keys, own := p.View(env.Body()), p.Keys(), p.Own()
	if d := own.Dialog; d != nil {
		title, text := d.Content(env)
		width := max(lipgloss.Width(text)+FrameWidth, lipgloss.Width(title)+titleWidth)
		frame := Pane{Titles: []string{title}, Focused: true}
		height := lipgloss.Height(text) + FrameHeight
		v.dialog, keys = frame.Draw(env.Theme, text, width, height), d.Keys()
		own.unseen = width > env.Width || height > env.Height
	}
	switch {
	case own.Notice == "":
	case own.failed:
		v.Status = env.Theme.Bad().Render("! " + own.Notice)
	default:
		v.Status = env.Theme.Good().Render(own.Notice)
	}
	if own.News != "" {
		news := env.Theme.Accent().Bold(true).Reverse(true).Render(" " + own.News + " ")
		v.Status = strings.Join(nonEmpty([]string{v.Status, news}), "   ")
	}
	if own.Dialog != nil && own.unseen {
		v.dialog, v.OnClick = "", nil
		v.Status = env.Theme.Bold().Render("The window is too small for this dialog. Press esc to close it.")
	}
	footer, _ := keys.shown(last)
	return compose(env, v, footer)
}

// Opening draws the window before the first page is open.
func Opening(env *Env) tea.View {
	return compose(env, View{Body: env.Theme.Dim().Render("Opening …")}, []key.Binding{InterruptKey})
}

// rowsOf divides the rows of a window: those of the header, of the body, and of the status and the
// footer. In a low window there are no empty rows, and the status covers the end of the body.
func rowsOf(height int) (above, body, below int) {
	above, below = 1, 1
	if height >= 22 {
		above = 2
	}
	if height >= StatusHeight {
		below = 2
	}
	return above, max(height-above-below, 1), below
}

// Body returns the size of the part of the window that a page draws.
func (e *Env) Body() (width, height int) {
	_, height, _ = rowsOf(e.Height)
	return max(e.Width-2*margin, 1), height
}

// compose draws the window around a page.
func compose(env *Env, v View, keys []key.Binding) tea.View {
	above, height, below := rowsOf(env.Height)
	inner := max(env.Width-2*margin, 1)
	brand := env.Theme.Accent().Bold(true).Render("GRIDSTAND")
	body, bodyX, bodyY := center(v.Body, inner, height)
	lines := make([]string, above+height+below)
	put := func(row, x int, text string) { lines[row] = strings.Repeat(" ", margin+x) + text }
	for i, line := range body {
		put(above+i, bodyX, line)
	}
	footer := len(lines) - 1
	put(0, 0, Header(inner, append([]string{brand}, v.Left...), v.Right))
	put(footer, 0, KeyLine(env.Theme, keys, inner))
	if v.Status != "" { // A long status wraps and covers the last rows of the body.
		wrapped := strings.Split(Wrap(v.Status, inner), "\n")
		wrapped = wrapped[:min(len(wrapped), height)]
		for i, line := range wrapped {
			put(footer-len(wrapped)+i, 0, line)
		}
	}
	content := strings.Join(lines, "\n")
	if v.dialog != "" {
		content = overlay(content, v.dialog, env.Width, env.Height)
	}
	title := "Gridstand"
	if v.Title != "" {
		title = v.Title + " · Gridstand"
	}
	if env.Theme.ASCII {
		content, title = ASCII(content), ASCII(title)
	}
	view := tea.NewView(content)
	view.AltScreen, view.WindowTitle = true, title
	view.KeyboardEnhancements = tea.KeyboardEnhancements{ // to know the places of keys
		ReportAlternateKeys: true, ReportAllKeysAsEscapeCodes: true, ReportAssociatedText: true,
	}
	if v.OnClick != nil && v.dialog == "" {
		view.MouseMode = tea.MouseModeCellMotion
		view.OnMouse = func(msg tea.MouseMsg) tea.Cmd {
			click, ok := msg.(tea.MouseClickMsg)
			if !ok || click.Button != tea.MouseLeft {
				return nil
			}
			return v.OnClick(click.X-margin-bodyX, click.Y-above-bodyY)
		}
	}
	return view
}

// overlay puts a box over the middle of a text of width × height.
func overlay(text, box string, width, height int) string {
	boxWidth, boxHeight := lipgloss.Size(box)
	return lipgloss.NewCompositor(
		lipgloss.NewLayer(text),
		lipgloss.NewLayer(box).X((width-boxWidth)/2).Y((height-boxHeight)/2).Z(1),
	).Render()
}

// center centers text in width × height: it returns the lines, not yet moved right, and the
// text's first column and row. It measures each line only once because it runs for every
// frame of an animation.
func center(text string, width, height int) (lines []string, x, y int) {
	all := strings.Split(text, "\n")
	all, widest := all[:min(len(all), height)], 0
	for i, line := range all {
		n := lipgloss.Width(line)
		if n > width {
			all[i], n = ansi.Truncate(line, width, "…"), width
		}
		widest = max(widest, n)
	}
	lines, x, y = make([]string, height), (width-widest)/2, (height-len(all))/2
	copy(lines[y:], all)
	return lines, x, y
}
