package watch

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	tea "charm.land/bubbletea/v2"

	"github.com/gridstand/gridstand/client"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/board"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/gamestate"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/ui"
	"github.com/gridstand/gridstand/internal/convert"
	"github.com/gridstand/gridstand/internal/describe"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// MaxWall is the maximum number of games on a wall.
const MaxWall = 4

// wall shows several games, side by side if the window is large enough and otherwise one at
// a time.
type wall struct {
	*ui.Tasks // stopped while another page is visible
	ctx       context.Context
	env       *ui.Env

	games []*gamestate.State
	// at is the index of the selected game.
	at int
	// best is set if live games take the places that are empty, or whose games are over or idle.
	best bool
	// asked is set once the server has been asked for live games, and problem says why it did not answer.
	asked   bool
	problem string
}

// newWall returns the page that watches the games with the given full ids. It shows at most
// MaxWall.
func newWall(ctx context.Context, env *ui.Env, ids []string, best bool) *wall {
	w := &wall{ctx: ctx, env: env, Tasks: ui.NewTasks(ctx), best: best}
	w.games = convert.All(ids[:min(len(ids), MaxWall)], wallGame)
	return w
}

func (w *wall) Init() tea.Cmd {
	cmds := convert.All(w.games, w.watch)
	if w.best {
		cmds = append(cmds, w.check())
	}
	return tea.Batch(cmds...)
}

// Pause implements ui.Pausing. Otherwise, the server would count the viewer of a game in full screen twice.
func (w *wall) Pause() {
	w.Stop()
	for _, s := range w.games {
		s.Motion.Stop()
	}
}

// Resumed implements ui.Resuming.
func (w *wall) Resumed() tea.Cmd {
	w.Tasks = ui.NewTasks(w.ctx)
	return w.Init()
}

// wallGame returns the game with a full id.
func wallGame(id string) *gamestate.State { return new(gamestate.New(&pb.Game{Id: id})) }

// watch starts following a game.
func (w *wall) watch(s *gamestate.State) tea.Cmd {
	return s.Follow(w.env, w.Tasks, client.WatchOptions{}, func(_ client.Update, changed bool) tea.Cmd {
		if !changed {
			return nil
		}
		return s.Show(w.env, w.Tasks, true)
	})
}

// check requests games if a place is empty or its game is dull, and checks again after resultTime.
func (w *wall) check() tea.Cmd {
	again, now := w.Later(resultTime, w.check), w.env.Now
	if len(w.games) == MaxWall && !slices.ContainsFunc(w.games, w.dull) {
		return again
	}
	return tea.Batch(again, ui.Call(w.Tasks, func(ctx context.Context) ([]*pb.Game, error) {
		return LiveGames(ctx, w.env.Server, nil, now)
	}, w.found))
}

// dull reports whether a game has been idle for long, or its result has been shown for long enough.
func (w *wall) dull(s *gamestate.State) bool {
	age, _ := gamestate.Idle(s.Game.Game, w.env.Now)
	return s.Err != nil || s.Board() != nil && (age >= idleTime || s.Over() && age >= resultTime)
}

// found shows live games, best first, in empty places, and those in motion in place of dull ones.
func (w *wall) found(live []*pb.Game, err error) tea.Cmd {
	w.asked, w.problem = true, ""
	if err != nil {
		w.problem = ui.Explain(err, ui.Gone)
	}
	var cmds []tea.Cmd
	for _, g := range live {
		s, dull := wallGame(g.GetId()), slices.IndexFunc(w.games, w.dull)
		switch {
		case slices.ContainsFunc(w.games, func(s *gamestate.State) bool { return s.Game.GetId() == g.GetId() }):
			continue
		case len(w.games) < MaxWall:
			w.games = append(w.games, s)
		case dull >= 0 && gamestate.RankOf(g, w.env.Now) < gamestate.Begun:
			w.games[dull].Unfollow()
			w.games[dull] = s
		default:
			continue
		}
		cmds = append(cmds, w.watch(s))
	}
	return tea.Batch(cmds...)
}

func (w *wall) Keys() ui.KeyTable {
	n, back := len(w.games), ui.On("q esc", "q", ui.BackText, true, ui.Run(ui.Back))
	if n == 0 {
		return ui.KeyTable{{newKey(w.env, true), back}}
	}
	to := func(i int) func() tea.Cmd { return func() tea.Cmd { w.at = i % n; return nil } }
	full := ui.Run(ui.Open(ui.Route{Watch: []string{w.games[w.at].Game.GetId()}}))
	var digits []ui.Key
	for i := range w.games {
		digits = append(digits, ui.Unlisted(strconv.Itoa(i+1), to(i)))
	}
	return ui.KeyTable{digits, {
		ui.On("tab right down n", "tab", "next game", n > 1, to(w.at+1)).Footer(3),
		ui.On("shift+tab left up", "shift-tab", "previous game", n > 1, to(w.at+n-1)),
		ui.On("", fmt.Sprintf("1–%d", n), "select", n > 1, nil).Footer(1),
		ui.On("enter", "enter", "full screen", true, full).Footer(2),
		back,
	}}
}

func (w *wall) View(width, height int) ui.View {
	t := w.env.Theme
	v := ui.View{
		Title: "wall", Left: []string{t.Bold().Render("wall")},
		Right: []string{t.Dim().Render(describe.Plural(len(w.games), "game"))},
	}
	if len(w.games) == 0 {
		v.Body = noGame(w.env, width, w.problem, w.asked)
		return v
	}
	var slots []board.Slot
	for i := range w.games {
		slots = append(slots, w.slot(i))
	}
	var ok bool
	if v.Body, ok = board.DrawGrid(t, slots, width, height); !ok {
		v.Body = slots[w.at].Draw(t, width, height)
		v.Right = []string{t.Dim().Render(fmt.Sprintf("%d of %d", w.at+1, len(w.games)))}
	}
	return v
}

// slot returns the place of a game: its number, player and variant, its score and badge, its board and, for Tribolo,
// all seats.
func (w *wall) slot(i int) board.Slot {
	t, s := w.env.Theme, w.games[i]
	number, name := t.Dim(), t.Bold()
	if i == w.at {
		number, name = t.Accent().Bold(true), t.Accent().Bold(true)
	}
	slot := board.Slot{Board: s.Board(), Name: number.Render(strconv.Itoa(i+1)) + " ", Facts: s.Badge(t, w.env.Now)}
	switch {
	case slot.Board == nil:
		slot.Below = func(width int) string { return t.Warn().Render(ui.Wrap(s.ConnectionProblem(), width)) }
	case s.Tribolo() != nil: // the title has no names
		slot.Name += name.Render(s.Variant())
		slot.Lines = len(s.Game.GetSeats())
		slot.Below = func(width int) string { return s.SeatLines(t, width, w.env.Me, false) }
	default:
		slot.Name += name.Render(s.Player()) + "  " + t.Dim().Render(s.Variant())
		slot.Facts = t.Bold().Render(describe.Comma(s.Score())) + "  " + slot.Facts
	}
	return slot
}
