package watch

import (
	"context"
	"fmt"
	"strings"

	"charm.land/bubbles/v2/help"
	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"

	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/board"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/gamestate"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/ui"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/widget"
)

// MaxWall is the number of games that a wall shows.
const MaxWall = 4

// wall shows several games at once: side by side if the window is large enough, else one
// at a time.
type wall struct {
	env   *ui.Env
	tasks *ui.Tasks
	keys  *wallKeys
	games []*game
	// at is the selected game.
	at int
}

// wallKeys are the keys of a wall.
type wallKeys struct{ Next, Previous, Number, Open, Help, Leave key.Binding }

// ShortHelp implements help.KeyMap.
func (k *wallKeys) ShortHelp() []key.Binding {
	return []key.Binding{k.Number, k.Open, k.Next, k.Help, k.Leave}
}

// FullHelp implements help.KeyMap.
func (k *wallKeys) FullHelp() [][]key.Binding {
	return [][]key.Binding{{k.Next, k.Previous, k.Number, k.Open, k.Leave}}
}

// NewWall watches several games by their whole ids, at most MaxWall.
func NewWall(ctx context.Context, env *ui.Env, ids []string) ui.Page {
	c := ui.NewCommon()
	w := &wall{env: env, tasks: ui.NewTasks(ctx), keys: &wallKeys{
		Next: ui.Bind("tab", "next game", "tab", "right", "down", "n"), Previous: ui.Bind("shift-tab", "previous game", "shift+tab", "left", "up"),
		Open: ui.Bind("enter", "full screen", "enter"), Help: c.Help, Leave: c.Back,
	}}
	for _, id := range ids[:min(len(ids), MaxWall)] {
		w.games = append(w.games, newGame(env, w.tasks, id))
	}
	w.keys.Number = ui.Bind(fmt.Sprintf("1–%d", len(w.games)), "select", []string{"1", "2", "3", "4"}[:len(w.games)]...)
	return w
}

// Init implements ui.Page.
func (w *wall) Init() tea.Cmd {
	var cmds []tea.Cmd
	for _, g := range w.games {
		cmds = append(cmds, g.watch())
	}
	return tea.Batch(cmds...)
}

// Tasks implements ui.Page.
func (w *wall) Tasks() *ui.Tasks { return w.tasks }

// Keys implements ui.Page.
func (w *wall) Keys() help.KeyMap { return w.keys }

// Update implements ui.Page.
func (w *wall) Update(msg tea.Msg) tea.Cmd {
	if press, ok := msg.(tea.KeyPressMsg); ok {
		return w.key(press)
	}
	var cmds []tea.Cmd
	for _, g := range w.games { // each handles what is its own
		cmds = append(cmds, g.update(msg))
	}
	return tea.Batch(cmds...)
}

func (w *wall) key(msg tea.KeyPressMsg) tea.Cmd {
	n := len(w.games)
	switch {
	case ui.Pressed(msg, w.keys.Leave):
		return ui.Back
	case ui.Pressed(msg, w.keys.Next):
		w.at = (w.at + 1) % n
	case ui.Pressed(msg, w.keys.Previous):
		w.at = (w.at + n - 1) % n
	case ui.Pressed(msg, w.keys.Number):
		w.at = int(msg.Code - '1')
	case ui.Pressed(msg, w.keys.Open):
		return ui.Open(ui.Route{Watch: []string{w.games[w.at].id}})
	}
	return nil
}

// Measures of a wall.
const (
	wallGapX   = 3  // columns between two games
	wallGapY   = 1  // rows between two games
	titleWidth = 36 // columns of a title, if the board is narrower
)

// grid chooses the columns in which every game can be drawn, and of those the one with
// the largest boards; 0 if there is only room for one game.
func (w *wall) grid(width, height int) (columns int) {
	best := 0
	for _, n := range []int{2, len(w.games), 1} {
		rows := (len(w.games) + n - 1) / n
		area, fits := 0, true
		for _, g := range w.games {
			c := w.cell(g, (width-(n-1)*wallGapX)/n, (height-(rows-1)*wallGapY)/rows)
			fits = fits && c.ok
			area += c.area
		}
		if fits && area > best {
			best, columns = area, n
		}
	}
	return columns
}

// View implements ui.Page.
func (w *wall) View(width, height int) ui.View {
	t := w.env.Theme
	v := ui.View{
		Title: "wall", Left: []string{t.Bold().Render("wall"), ""},
		Right: []string{t.Dim().Render(gamestate.Plural(len(w.games), "game"))},
	}
	columns := w.grid(width, height)
	if columns == 0 {
		v.Body = w.cell(w.games[w.at], width, height).text
		v.Right = []string{t.Dim().Render(fmt.Sprintf("%d of %d", w.at+1, len(w.games)))}
		return v
	}
	rows := (len(w.games) + columns - 1) / columns
	each, high := (width-(columns-1)*wallGapX)/columns, (height-(rows-1)*wallGapY)/rows
	var lines []string
	for row := range rows {
		var beside []string
		for i, g := range w.games[row*columns : min((row+1)*columns, len(w.games))] {
			if i > 0 {
				beside = append(beside, strings.Repeat(" ", wallGapX))
			}
			beside = append(beside, lipgloss.PlaceHorizontal(each, lipgloss.Center, w.cell(g, each, high).text))
		}
		if row > 0 {
			lines = append(lines, "")
		}
		lines = append(lines, lipgloss.JoinHorizontal(lipgloss.Top, beside...))
	}
	v.Body = lipgloss.JoinVertical(lipgloss.Center, lines...)
	return v
}

// cell is a game of a wall, drawn.
type cell struct {
	text string
	area int  // of the board, in characters
	ok   bool // the board fits
}

// cell draws a game with its title, its board and all its seats.
func (w *wall) cell(g *game, width, height int) cell {
	t, s := w.env.Theme, &g.state
	drawing := board.Moving(s.Board(), s.Before, g.motion.Progress())
	if drawing == nil {
		text := s.Badge(t, w.env.Now)
		if g.problem != "" {
			text = t.Warn().Render(widget.Wrap(g.problem, width))
		}
		return cell{text: w.title(g, width) + "\n" + text, area: 1, ok: true}
	}
	below := 0 // rows for the seats
	if s.Tribolo() != nil {
		below = len(s.Game.GetSeats())
	}
	text, ok := board.Largest(drawing, t, width, height-1-below)
	if small, has := board.Small(drawing, t); !ok && has {
		drawing = small
		text, ok = board.Largest(drawing, t, width, height-1-below)
	}
	if !ok {
		needsWidth, needsHeight := board.Needs(drawing, t)
		return cell{text: w.title(g, width) + "\n" + widget.TooSmall(width, height, needsWidth, needsHeight+1+below)}
	}
	area := lipgloss.Width(text) * lipgloss.Height(text)
	width = min(width, max(lipgloss.Width(text), titleWidth))
	parts := []string{w.title(g, width), lipgloss.PlaceHorizontal(width, lipgloss.Center, text)}
	if below > 0 {
		parts = append(parts, s.SeatLines(t, width, w.env.Me))
	}
	return cell{text: lipgloss.JoinVertical(lipgloss.Left, parts...), area: area, ok: true}
}

// title is the line above a game: its number, player, variant, score and badge.
func (w *wall) title(g *game, width int) string {
	t, s := w.env.Theme, &g.state
	number := 0
	for i, other := range w.games {
		if other == g {
			number = i
		}
	}
	mark := t.Dim().Render(fmt.Sprintf("%d ", number+1))
	name := t.Bold()
	if number == w.at {
		mark, name = t.Accent().Bold(true).Render(fmt.Sprintf("%d ", number+1)), t.Accent().Bold(true)
	}
	badge := s.Badge(t, w.env.Now)
	if s.Board() == nil {
		return widget.Header(width, []string{mark, ""}, []string{badge, ""})
	}
	variant := t.Dim().Render(s.Variant())
	if s.Tribolo() != nil {
		return widget.Header(width, []string{mark + name.Render(s.Variant()), ""}, []string{badge, ""})
	}
	who, score := mark+name.Render(s.Player()), t.Bold().Render(gamestate.Comma(s.Score()))
	return widget.Header(width, []string{who + "  " + variant + "  " + score, who + "  " + score, who, ""}, []string{badge, ""})
}

// Farewell implements ui.Page: how the games stood, a line each.
func (w *wall) Farewell() string {
	var lines []string
	for _, g := range w.games {
		if text := g.farewell(); text != "" {
			lines = append(lines, text)
		}
	}
	return strings.Join(lines, "\n")
}
