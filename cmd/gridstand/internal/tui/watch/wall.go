package watch

import (
	"context"
	"fmt"
	"strings"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"

	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/board"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/gamestate"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/ui"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/widget"
	"github.com/gridstand/gridstand/internal/describe"
)

// MaxWall is the maximum number of games on a wall.
const MaxWall = 4

// wall shows several games, side by side if the window is large enough and otherwise one at
// a time.
type wall struct {
	env   *ui.Env
	tasks *ui.Tasks
	keys  wallKeys
	games []*game
	// at is the index of the selected game.
	at int
}

type wallKeys struct{ Next, Previous, Number, Open, Help, Leave key.Binding }

// NewWall returns the page that watches the games with the given full ids. It shows at most
// MaxWall.
func NewWall(ctx context.Context, env *ui.Env, ids []string) ui.Page {
	c := ui.NewCommon()
	w := &wall{env: env, tasks: ui.NewTasks(ctx), keys: wallKeys{
		Next: ui.Bind("tab", "next game", "tab", "right", "down", "n"), Previous: ui.Bind("shift-tab", "previous game", "shift+tab", "left", "up"),
		Open: ui.Bind("enter", "full screen", "enter"), Help: c.Help, Leave: c.Back,
	}}
	for _, id := range ids[:min(len(ids), MaxWall)] {
		w.games = append(w.games, newGame(env, w.tasks, id))
	}
	w.keys.Number = ui.Bind(fmt.Sprintf("1–%d", len(w.games)), "select", []string{"1", "2", "3", "4"}[:len(w.games)]...)
	return w
}

func (w *wall) Init() tea.Cmd {
	var cmds []tea.Cmd
	for _, g := range w.games {
		cmds = append(cmds, g.watch())
	}
	return tea.Batch(cmds...)
}

func (w *wall) Tasks() *ui.Tasks { return w.tasks }

func (w *wall) Keys() ui.KeyMap {
	k := w.keys
	return ui.KeyMap{
		Short: []key.Binding{k.Number, k.Open, k.Next, k.Help, k.Leave},
		Full:  [][]key.Binding{{k.Next, k.Previous, k.Number, k.Open, k.Leave}},
	}
}

func (w *wall) Update(msg tea.Msg) tea.Cmd {
	if press, ok := msg.(tea.KeyPressMsg); ok {
		return w.key(press)
	}
	var cmds []tea.Cmd
	for _, g := range w.games { // each game ignores messages about other games
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

// titleWidth is the minimum width of a title.
const titleWidth = 36

func (w *wall) View(width, height int) ui.View {
	t := w.env.Theme
	v := ui.View{Title: "wall", Left: []string{t.Bold().Render("wall"), ""}}
	var slots []board.Slot
	for _, g := range w.games {
		slots = append(slots, g.slot())
	}
	grid, ok := board.FitGrid(t, slots, width, height)
	if !ok {
		v.Body = w.cell(w.at, width, height)
		v.Right = []string{t.Dim().Render(fmt.Sprintf("%d of %d", w.at+1, len(w.games)))}
		return v
	}
	v.Right = []string{t.Dim().Render(describe.Plural(len(w.games), "game"))}
	v.Body = grid.Draw(len(w.games), func(i int) string { return w.cell(i, grid.Width, grid.Height) })
	return v
}

// seatRows returns the number of rows for the seats below a board. It is 0 for 2048, since
// the title names the player.
func seatRows(s *gamestate.State) int {
	if s.Tribolo() == nil {
		return 0
	}
	return len(s.Game.GetSeats())
}

// slot returns the board to draw, with a title above and the seats below.
func (g *game) slot() board.Slot {
	b := board.Moving(g.state.Board(), g.state.Before, g.motion.Progress())
	return board.Slot{Board: b, Lines: 1 + seatRows(&g.state)}
}

// cell draws a game: the title, the board and all seats.
func (w *wall) cell(i, width, height int) string {
	t, g := w.env.Theme, w.games[i]
	b, c, ok := g.slot().Fit(t, width, height)
	switch {
	case b == nil:
		return w.title(i, min(width, titleWidth)) + "\n" + t.Warn().Render(widget.Wrap(g.problem, width))
	case !ok:
		needsWidth, needsHeight := board.Needs(b, t)
		return w.title(i, width) + "\n" + widget.TooSmall(width, height, needsWidth, needsHeight+1+seatRows(&g.state))
	}
	boardWidth, _ := b.Measure(c)
	width = min(width, max(boardWidth, titleWidth))
	parts := []string{w.title(i, width), lipgloss.PlaceHorizontal(width, lipgloss.Center, b.Draw(c, t))}
	if seatRows(&g.state) > 0 {
		parts = append(parts, g.state.SeatLines(t, width, w.env.Me))
	}
	return lipgloss.JoinVertical(lipgloss.Left, parts...)
}

// title returns the line above a game: its number, player, variant, score and badge.
func (w *wall) title(i, width int) string {
	t, s := w.env.Theme, &w.games[i].state
	number, name := t.Dim(), t.Bold()
	if i == w.at {
		number, name = t.Accent().Bold(true), t.Accent().Bold(true)
	}
	left := []string{number.Render(fmt.Sprint(i + 1)), ""}
	score := "  " + t.Bold().Render(describe.Comma(s.Score()))
	switch who := left[0] + " " + name.Render(s.Player()); {
	case s.Tribolo() != nil:
		left = []string{left[0] + " " + name.Render(s.Variant()), ""}
	case s.Board() != nil:
		left = []string{who + "  " + t.Dim().Render(s.Variant()) + score, who + score, who, ""}
	}
	return widget.Header(width, left, []string{s.Badge(t, w.env.Now), ""})
}

// Farewell implements ui.Page. It reports the state of each game on its own line.
func (w *wall) Farewell() string {
	var lines []string
	for _, g := range w.games {
		if text := g.farewell(); text != "" {
			lines = append(lines, text)
		}
	}
	return strings.Join(lines, "\n")
}
