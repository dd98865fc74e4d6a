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
func (p *page) watch(id string) tea.Cmd {
	v := &p.preview
	if id == "" || id != v.id || v.cancel != nil {
		return nil
	}
	ctx, cancel := context.WithCancel(p.tasks.Ctx)
	v.cancel = cancel
	stream := p.env.Server.Watch(ctx, id, ui.WatchOptions{Preview: true})
	return ui.Follow(p.tasks, stream, func(u client.Update, err error) tea.Cmd {
		if ctx.Err() == nil && err == nil {
			p.previewed(u)
		}
		return nil
	})
}

// previewed updates the preview and the rows of its game, since the preview is newer than the
// lists.
func (p *page) previewed(u client.Update) {
	p.preview.state.Update(u, p.env.Now)
	newer := p.preview.state.Game.Game
	for _, games := range p.games {
		for i, g := range games {
			if newer.GetVersion() > g.GetVersion() && newer.GetId() == g.GetId() {
				games[i] = newer
			}
		}
	}
}

func (v *preview) leave() {
	if v.cancel != nil {
		v.cancel()
	}
	v.cancel = nil
}
