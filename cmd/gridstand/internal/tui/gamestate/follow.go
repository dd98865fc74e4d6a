package gamestate

import (
	"context"
	"errors"
	"io"

	tea "charm.land/bubbletea/v2"

	"github.com/gridstand/gridstand/client"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/ui"
)

// Follow returns a command that follows the game until Unfollow is called or the stream ends. It applies each
// update, and then calls updated with whether the board changed. If the stream fails, updated is called once
// more, and Err is set. After an undo, which can change the seats, it also requests the game.
func (s *State) Follow(
	env *ui.Env, t *ui.Tasks, o client.WatchOptions, updated func(u client.Update, changed bool) tea.Cmd,
) tea.Cmd {
	ctx, leave := context.WithCancel(t.Ctx)
	s.Unfollow, o.GameID = leave, s.Game.GetId()
	return ui.Follow(t, env.Server.Watch(ctx, o), func(u client.Update, err error) tea.Cmd {
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			leave() // The stream has ended.
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		s.Err = err
		changed := err == nil && s.Update(u)
		cmd := updated(u, changed)
		if changed && u.Event.GetUndone() != nil && len(s.Game.GetSeats()) > 1 {
			cmd = tea.Batch(cmd, s.Fetch(env, t, func(g client.Game, err error) tea.Cmd {
				if err != nil || ctx.Err() != nil {
					return nil
				}
				return updated(client.Update{Game: g.Game}, s.Replace(g.Game))
			}))
		}
		return cmd
	})
}

// Fetch requests the current state of the game.
func (s *State) Fetch(env *ui.Env, t *ui.Tasks, then func(client.Game, error) tea.Cmd) tea.Cmd {
	id := s.Game.GetId()
	return ui.Call(t, func(ctx context.Context) (client.Game, error) { return env.Server.Game(ctx, id) }, then)
}
