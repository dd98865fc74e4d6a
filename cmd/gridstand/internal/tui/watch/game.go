// Package watch implements the pages for watching games: one game, TV, the games of a
// player, a replay, and several games side by side.
package watch

import (
	"context"
	"errors"
	"io"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/gridstand/gridstand/client"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/gamestate"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/ui"
	"github.com/gridstand/gridstand/internal/describe"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// game is a watched game.
type game struct {
	env   *ui.Env
	tasks *ui.Tasks
	id    string
	state gamestate.State
	past  past
	curve curve
	since time.Time          // when the page started to show it
	leave context.CancelFunc // ends the stream
	asked bool               // whether the best score of the player was requested
}

func newGame(env *ui.Env, tasks *ui.Tasks, id string) *game {
	return &game{
		env: env, tasks: tasks, id: id, state: gamestate.New(nil), since: env.Now,
		past: past{events: map[int32]*pb.Event{}}, leave: func() {},
	}
}

func (g *game) watch() tea.Cmd {
	var ctx context.Context
	ctx, g.leave = context.WithCancel(g.tasks.Ctx)
	return ui.Follow(g.tasks, g.env.Server.Watch(ctx, client.WatchOptions{GameID: g.id}), g.onUpdate)
}

func (g *game) onUpdate(u client.Update, err error) tea.Cmd {
	if err != nil {
		if !errors.Is(err, io.EOF) {
			g.state.Err = err
		}
		return nil
	}
	cmds := []tea.Cmd{g.tasks.React(g.env, u.Reactions)}
	if !g.state.Update(u, g.env.Now) {
		return cmds[0]
	}
	g.past.add(eventOf(u))
	if u.Event.GetUndone() != nil && len(g.state.Game.GetSeats()) > 1 {
		cmds = append(cmds, g.fetch()) // an undo can change the seats
	}
	cmds = append(cmds, g.tasks.Celebrate(g.env, g.state.Milestone))
	return tea.Batch(append(cmds, g.state.Show(g.env, g.tasks, !g.lookingBack()))...)
}

// askBest requests the best score of the player's earlier games, once.
func (g *game) askBest() tea.Cmd {
	seats := g.state.Game.GetSeats()
	if g.asked || len(seats) != 1 || seats[0].GetPlayer() == nil || g.state.Over() {
		return nil
	}
	g.asked = true
	name, variant, player := g.state.Player(), g.state.Game.GetVariant(), seats[0].GetPlayer().GetId()
	if g.env.Owns(seats[0]) {
		name = ""
	}
	return ui.Call(g.tasks, func(ctx context.Context) (ui.Place, error) {
		return g.env.Server.Place(ctx, variant, pb.Window_WINDOW_ALL_TIME, player)
	}, func(best ui.Place, err error) tea.Cmd {
		if err == nil {
			g.state.SetRecord(best.GetScore(), describe.NewBest(name))
		}
		return nil
	})
}

// fetch requests the current state of the game.
func (g *game) fetch() tea.Cmd {
	return ui.Call(g.tasks, func(ctx context.Context) (client.Game, error) { return g.env.Server.Game(ctx, g.id) },
		func(newest client.Game, err error) tea.Cmd {
			if err == nil {
				g.state.Replace(newest.Game)
			}
			return nil
		})
}

// running reports whether more events may arrive.
func (g *game) running() bool { return g != nil && !g.state.Over() && g.state.Err == nil }

// closingMessage returns the state of the game, and a command to continue watching or to verify it.
func (g *game) closingMessage() string {
	s := &g.state
	switch {
	case s.Board() == nil:
		return ""
	case s.Over() && s.Sealed():
		return ui.WithHint(s.Summary(), "When its challenge has closed, verify it", g.env.Command("verify", s.ID()))
	case s.Over():
		return ui.WithHint(s.Summary(), "Verify it", g.env.Command("verify", s.ID()))
	default:
		return ui.WithHint(s.Summary(), "Continue", g.env.Command("watch", s.ID()))
	}
}
