package tui

import (
	"context"
	"strings"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"
)

// MaxWall is how many games a Wall shows.
const MaxWall = 4

// Room that a game on a wall needs at least.
const (
	wallWidth  = 38
	wallHeight = 14
)

// Wall is the screen on which several games are watched at once: side by side
// where the window is large enough, else one at a time.
type Wall struct {
	base
	keys  *wallKeys
	games []*Watch
	// at is the game that is shown where there is room for one.
	at int
}

// wallKeys are the keys of a wall.
type wallKeys struct {
	commonKeys
	Next key.Binding
}

// ShortHelp implements help.KeyMap.
func (k *wallKeys) ShortHelp() []key.Binding { return []key.Binding{k.Next, k.Help, k.Leave} }

// FullHelp implements help.KeyMap.
func (k *wallKeys) FullHelp() [][]key.Binding {
	return [][]key.Binding{{k.Next, k.Leave, k.Help, k.Suspend, k.Interrupt}}
}

// NewWall makes the screen of games by their whole ids, at most MaxWall; the
// rest is as the configuration says. Its commands end with ctx.
func NewWall(ctx context.Context, server Server, games []string, c WatchConfig) *Wall {
	w := &Wall{
		base: newBase(ctx, c.Clock),
		keys: &wallKeys{newCommonKeys(), bind("n", "next game", "n", "tab", "right")},
	}
	for _, id := range games[:min(len(games), MaxWall)] {
		c.GameID = id
		game := NewWatch(ctx, server, c)
		game.bare = true
		w.games = append(w.games, game)
	}
	return w
}

// Init implements tea.Model.
func (w *Wall) Init() tea.Cmd {
	cmds := []tea.Cmd{w.start()}
	for _, game := range w.games {
		cmds = append(cmds, game.follow())
	}
	return tea.Batch(cmds...)
}

// Update implements tea.Model.
func (w *Wall) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	cmd, done := w.take(msg)
	for _, game := range w.games {
		game.theme, game.now = w.theme, w.now
	}
	if done {
		return w, cmd
	}
	if msg, ok := msg.(tea.KeyPressMsg); ok {
		if cmd, done := w.takeKey(msg, &w.keys.commonKeys); done {
			return w, cmd
		}
		switch {
		case w.help:
		case pressed(msg, w.keys.Leave):
			return w, tea.Quit
		case pressed(msg, w.keys.Next):
			w.at = (w.at + 1) % len(w.games)
		}
		return w, nil
	}
	var cmds []tea.Cmd
	for _, game := range w.games { // each takes what is its own
		_, cmd := game.Update(msg)
		cmds = append(cmds, cmd)
	}
	return w, tea.Batch(cmds...)
}

// grid is how many games fit beside and below each other; 0 where there is
// only room for one.
func (w *Wall) grid() (columns, rows int) {
	for _, columns := range []int{len(w.games), 2, 1} {
		rows := (len(w.games) + columns - 1) / columns
		if w.width/columns >= wallWidth && (w.height-1)/rows >= wallHeight {
			return columns, rows
		}
	}
	return 0, 0
}

// View implements tea.Model.
func (w *Wall) View() tea.View {
	columns, rows := w.grid()
	games := w.games
	if columns == 0 {
		columns, rows, games = 1, 1, w.games[w.at:w.at+1]
	}
	width, height := w.width/columns, max((w.height-1)/rows, 1)
	var lines []string
	for row := range rows {
		var beside []string
		for _, game := range games[row*columns : min((row+1)*columns, len(games))] {
			small := *game
			small.width, small.height, small.now, small.theme = max(width-2, 1), height, w.now, w.theme
			beside = append(beside, lipgloss.NewStyle().Width(width).Height(height).Render(small.View().Content))
		}
		lines = append(lines, lipgloss.JoinHorizontal(lipgloss.Top, beside...))
	}
	p := page{}
	if w.help {
		w.cover(&p, "? closes; too small", w.helpBox(w.keys))
	}
	return w.view(strings.Join(lines, "\n")+"\n"+w.helpBar(w.keys), 0, p.box, w.width/2)
}

// Farewell implements Screen: how the games stood, a line each.
func (w *Wall) Farewell() string {
	var lines []string
	for _, game := range w.games {
		if text := game.Farewell(); text != "" {
			lines = append(lines, text)
		}
	}
	return strings.Join(lines, "\n")
}

// stop implements Screen.
func (w *Wall) stop() bool {
	for _, game := range w.games {
		game.stop()
	}
	return w.base.stop()
}
