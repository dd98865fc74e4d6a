package ui

import (
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/gridstand/gridstand/internal/describe"
)

const (
	flashTime  = 2 * time.Second        // how long a Flash is shown
	flashLeast = 700 * time.Millisecond // how long no key removes it: a player presses keys all the time
)

// Flash is a text that is shown for two seconds, or until a key.
type Flash struct {
	// Text is "" if there is nothing to show.
	Text string
	end  Timer
	at   time.Time
}

// show shows a text in place of the previous one, unless it is "".
func (f *Flash) show(env *Env, t *Tasks, text string) tea.Cmd {
	if text == "" {
		return nil
	}
	f.Text, f.at = text, env.Now
	return f.end.Start(t, flashTime, func() tea.Cmd { f.Text = ""; return nil })
}

// press removes the text because of a key, unless it has just appeared.
func (f *Flash) press(now time.Time) {
	if now.Sub(f.at) >= flashLeast {
		f.Text = ""
	}
}

// onBoard reports whether a text can cover a board: one without colors would be unreadable.
func onBoard(t Theme) bool { return t.Colored() && !t.ASCII }

// Over returns a drawn board with the text across its middle, in large letters if they fit.
func (f *Flash) Over(drawn string, t Theme) string {
	if f.Text == "" || !onBoard(t) {
		return drawn
	}
	width, height := lipgloss.Size(drawn)
	text, ok := t.Large(f.Text, width-2)
	box := t.Accent().Bold(true).Padding(1)
	if !ok || lipgloss.Height(text)+2 > height {
		text, box = ansi.Truncate(f.Text, max(width-2, 0), "…"), box.Padding(0, 1)
	}
	return Overlay(drawn, box.Render(text), width, height)
}

// News returns View.News about reactions, and about the moment if the board cannot show it.
func (t *Tasks) News(theme Theme) string {
	var texts []string
	if t.Moment.Text != "" && !onBoard(theme) {
		texts = append(texts, theme.Bold().Render(t.Moment.Text))
	}
	if t.Reactions.Text != "" {
		texts = append(texts, theme.Accent().Render(t.Reactions.Text))
	}
	return strings.Join(texts, "   ")
}

// Celebrate shows a moment, unless text is "".
func (t *Tasks) Celebrate(env *Env, text string) tea.Cmd { return t.Moment.show(env, t, text) }

// React shows the reactions of watchers, if there are any.
func (t *Tasks) React(env *Env, counts []int32) tea.Cmd {
	text := describe.Reacted(counts)
	if text != "" {
		text = "★ " + text
	}
	return t.Reactions.show(env, t, text)
}
