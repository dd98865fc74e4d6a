// Package watch has the pages on which games are watched: one game, TV, the games of a
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

// markTime is how long the cells are marked that an event changed.
const markTime = 250 * time.Millisecond

// game is a game that is watched.
type game struct {
	env     *ui.Env
	tasks   *ui.Tasks
	id      string
	state   gamestate.State
	past    past
	since   time.Time // when the page began to show it
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

// watch begins to follow the game.
func (g *game) watch() tea.Cmd {
	var ctx context.Context
	ctx, g.leave = context.WithCancel(g.tasks.Ctx)
	g.stream = g.env.Server.Watch(ctx, g.id, ui.WatchOptions{})
	return g.tasks.Next(g.id, g.stream)
}

// unmarkMsg takes the marks off a version.
type unmarkMsg struct {
	gameID  string
	version int32
}

// About implements ui.AboutGame.
func (m unmarkMsg) About() string { return m.gameID }

// update handles a message about a game; those about others are ignored.
func (g *game) update(msg tea.Msg) tea.Cmd {
	if ui.Late(msg, g.id) {
		return nil
	}
	switch msg := msg.(type) {
	case ui.UpdateMsg:
		if msg.Stream == g.stream { // not one that the page left before it came back
			return g.onUpdate(msg)
		}
	case ui.FetchedMsg:
		if msg.Err == nil {
			g.state.Replace(msg.Game)
		}
	case ui.FrameMsg:
		return g.motion.Update(msg, g.env, g.tasks)
	case unmarkMsg:
		if msg.version == g.state.Game.GetVersion() {
			g.state.Unmark()
		}
	case loadedMsg:
		return g.loaded(msg)
	}
	return nil
}

// onUpdate handles an update of the stream, or its end.
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
		cmds = append(cmds, g.tasks.Fetch(g.env.Server, g.id)) // the event does not say how the seats were
	}
	if !g.lookingBack() {
		cmds = append(cmds, g.move(&g.state))
	}
	if g.env.Theme.Colored() {
		cmds = append(cmds, g.tasks.After(markTime, unmarkMsg{g.id, g.state.Game.GetVersion()}))
	}
	return tea.Batch(cmds...)
}

// move begins to show the last move of a state in motion.
func (g *game) move(s *gamestate.State) tea.Cmd {
	g.motion.Stop()
	if s.Before == nil {
		return nil
	}
	return g.motion.Start(g.env, g.tasks)
}

// running reports whether events may still come.
func (g *game) running() bool { return g != nil && !g.state.Over() && !g.state.Lost }

// connectionProblem says why a server that answers does not send the game, empty if it does.
func (g *game) connectionProblem() string {
	if err := g.state.ConnectionProblem(); err != nil {
		return ui.Explain(err, "Trying again …")
	}
	return ""
}
