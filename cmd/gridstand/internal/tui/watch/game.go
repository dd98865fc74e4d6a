// Package watch implements the pages for watching games: one game, TV, the games of a
// player, a replay, and several games side by side.
package watch

import (
	"context"
	"errors"
	"io"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/gamestate"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/ui"
)

// markTime is how long the cells that an event changed are marked.
const markTime = 250 * time.Millisecond

// game is a watched game.
type game struct {
	env     *ui.Env
	tasks   *ui.Tasks
	id      string
	state   gamestate.State
	past    past
	since   time.Time // when the page started to show it
	stream  ui.Stream
	leave   context.CancelFunc // ends stream
	motion  ui.Motion
	problem string
}

func newGame(env *ui.Env, tasks *ui.Tasks, id string) *game {
	return &game{
		env: env, tasks: tasks, id: id, state: gamestate.New(nil), since: env.Now,
		past: past{frames: map[int32]frame{}}, leave: func() {},
	}
}

func (g *game) watch() tea.Cmd {
	var ctx context.Context
	ctx, g.leave = context.WithCancel(g.tasks.Ctx)
	g.stream = g.env.Server.Watch(ctx, g.id, ui.WatchOptions{})
	return g.tasks.Next(g.id, g.stream)
}

// update handles a message about the game and ignores messages about other games.
func (g *game) update(msg tea.Msg) tea.Cmd {
	if ui.Late(msg, g.id) {
		return nil
	}
	switch msg := msg.(type) {
	case ui.UpdateMsg:
		if msg.Stream == g.stream { // ignore earlier streams of the same game
			return g.onUpdate(msg)
		}
	case ui.FetchedMsg:
		if msg.Err == nil {
			g.state.Replace(msg.Game)
		}
	case ui.Then:
		return msg()
	}
	return nil
}

func (g *game) onUpdate(msg ui.UpdateMsg) tea.Cmd {
	if msg.Err != nil {
		if !errors.Is(msg.Err, io.EOF) {
			g.state.Lost, g.problem = true, ui.Explain(msg.Err, "Open the game again to retry.")
		}
		return nil
	}
	cmds := []tea.Cmd{g.tasks.Next(g.id, g.stream)}
	if !g.state.Update(msg.Update, g.env.Now) {
		return cmds[0]
	}
	g.past.add(frameOf(&g.state))
	if msg.Update.Event.GetUndone() != nil && len(g.state.Game.GetSeats()) > 1 {
		cmds = append(cmds, g.tasks.Fetch(g.env.Server, g.id)) // an undo can change the seats
	}
	if !g.lookingBack() {
		cmds = append(cmds, g.move(&g.state))
	}
	if g.env.Theme.Colored() {
		cmds = append(cmds, g.tasks.Later(markTime, g.state.UnmarkLater()))
	}
	return tea.Batch(cmds...)
}

// move starts the animation of a state's last move.
func (g *game) move(s *gamestate.State) tea.Cmd {
	g.motion.Stop()
	if s.Before == nil {
		return nil
	}
	return g.motion.Start(g.env, g.tasks, func() {})
}

// running reports whether more events may arrive.
func (g *game) running() bool { return g != nil && !g.state.Over() && !g.state.Lost }

// connectionProblem explains why a server that answers does not send the game, or says that
// the server has stopped. It returns "" if there is no such problem.
func (g *game) connectionProblem() string {
	if err := g.state.ConnectionProblem(); err != nil {
		return ui.Explain(err, "Retrying …")
	}
	if g.state.Stopped() {
		return gamestate.StoppedText
	}
	return ""
}
