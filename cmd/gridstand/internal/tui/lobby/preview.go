package lobby

import (
	"context"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/gridstand/gridstand/client"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/gamestate"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/ui"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// preview is the live preview of the selected game.
type preview struct {
	id     string
	state  gamestate.State
	cancel context.CancelFunc // ends the stream; nil if there is no stream
}

// show makes g the previewed game. g may be nil.
func (v *preview) show(g *pb.Game, now time.Time) {
	v.leave()
	v.id, v.state = g.GetId(), gamestate.New(g)
	// The lists have just been loaded, so assume that the connection is good until the
	// stream reports otherwise.
	v.state.Update(client.Update{Connection: client.Connection{State: client.Live}}, now)
}

// watch starts watching the previewed game, if it is still the one with the given id.
func (v *preview) watch(id string, env *ui.Env, tasks *ui.Tasks) tea.Cmd {
	if id == "" || id != v.id || v.cancel != nil {
		return nil
	}
	ctx, cancel := context.WithCancel(tasks.Ctx)
	v.cancel = cancel
	return tasks.Next(id, env.Server.Watch(ctx, id, ui.WatchOptions{Preview: true}))
}

func (v *preview) update(msg ui.UpdateMsg, env *ui.Env, tasks *ui.Tasks) tea.Cmd {
	if string(msg.GameID) != v.id || msg.Err != nil || v.cancel == nil {
		return nil
	}
	v.state.Update(msg.Update, env.Now)
	return tasks.Next(v.id, msg.Stream)
}

func (v *preview) leave() {
	if v.cancel != nil {
		v.cancel()
	}
	v.cancel = nil
}
