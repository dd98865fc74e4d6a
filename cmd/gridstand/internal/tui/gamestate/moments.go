package gamestate

import (
	"time"

	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/ui"
	"github.com/gridstand/gridstand/internal/describe"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

const (
	flashTime  = 2 * time.Second        // how long a Flash is shown
	flashLeast = 700 * time.Millisecond // how long no key removes it: a player presses keys all the time
	goalTile   = 2048                   // the smallest tile that is celebrated
)

// Flash is a text that is shown for two seconds, or until a key.
type Flash struct {
	// Text is "" if there is nothing to show.
	Text string
	end  ui.Timer
	at   time.Time
}

// Show shows a text in place of the previous one.
func (f *Flash) Show(env *ui.Env, t *ui.Tasks, text string) tea.Cmd {
	f.Text, f.at = text, env.Now
	return f.end.Start(t, flashTime, func() tea.Cmd { f.Text = ""; return nil })
}

// Key removes the text, unless it has just appeared.
func (f *Flash) Key(now time.Time) {
	if now.Sub(f.at) >= flashLeast {
		f.Text = ""
	}
}

// Line returns the text for the status line if the board cannot show it.
func (f *Flash) Line(t ui.Theme) string {
	if f.Text == "" || onBoard(t) {
		return ""
	}
	return t.Bold().Render(f.Text)
}

// onBoard reports whether a text can cover a board: one without colors would be unreadable.
func onBoard(t ui.Theme) bool { return t.Colored() && !t.ASCII }

// Over returns a drawn board with the text across its middle, in large letters if they fit.
func (f *Flash) Over(drawn string, t ui.Theme) string {
	if f.Text == "" || !onBoard(t) {
		return drawn
	}
	width, height := lipgloss.Size(drawn)
	text, ok := t.Large(f.Text, width-2)
	box := t.Accent().Bold(true).Padding(1)
	if !ok || lipgloss.Height(text)+2 > height {
		text, box = ansi.Truncate(f.Text, max(width-2, 0), "…"), box.Padding(0, 1)
	}
	return ui.Overlay(drawn, box.Render(text), width, height)
}

// SetRecord sets the best score of the player's earlier games. Once the game's score exceeds it, the
// text is shown.
func (s *State) SetRecord(score int32, text string) { s.record, s.recordText = score, text }

// Record reports whether the game's score exceeds that of the player's earlier games, if there are any.
func (s *State) Record() bool {
	return s.record > 0 && s.Game.GetRanked() && s.Score() > s.record
}

// milestone returns the text that celebrates the last event, or "". before is the board before it, and
// score the score.
func (s *State) milestone(before *pb.Twenty48Board, score int32) string {
	if before == nil || s.Twenty48() == nil {
		return ""
	}
	s.largest = max(s.largest, describe.LargestTile(before))
	switch tile := describe.LargestTile(s.Twenty48()); {
	case tile > s.largest && tile >= goalTile:
		return describe.NewTile(tile)
	case score <= s.record && s.Record():
		return s.recordText
	}
	return ""
}

// React shows the reactions of an update, if any.
func (s *State) React(env *ui.Env, t *ui.Tasks, counts []int32) tea.Cmd {
	text := describe.Reacted(counts)
	if text == "" {
		return nil
	}
	return s.Reactions.Show(env, t, "★ "+text)
}

// News returns the line for the status about the moment and reactions, or "".
func (s *State) News(t ui.Theme) string {
	line, reactions := s.Moment.Line(t), s.Reactions.Text
	if reactions == "" {
		return line
	}
	if line != "" {
		line += "   "
	}
	return line + t.Accent().Render(reactions)
}
