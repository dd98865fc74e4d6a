package lobby

import (
	"context"
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/gridstand/gridstand/client"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/gamestate"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/ui"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// cursor is the selected item of a list. It stays on its item when the list changes, and
// on its row if the item is gone.
type cursor struct {
	ids []string
	at  int
}

func (c *cursor) set(ids []string) {
	if i := slices.Index(ids, c.id()); i >= 0 && c.at < len(c.ids) {
		c.at = i
	}
	c.ids = ids
	c.move(0)
}

// id is the selected item, empty for none.
func (c *cursor) id() string {
	if c.at >= len(c.ids) {
		return ""
	}
	return c.ids[c.at]
}

// move goes n items down, or up if n is negative.
func (c *cursor) move(n int) { c.at = max(min(c.at+n, len(c.ids)-1), 0) }

// preview is the selected game, live.
type preview struct {
	id     string
	state  gamestate.State
	cancel context.CancelFunc // ends the stream, nil if there is none
}

// show replaces the game, nil for none.
func (v *preview) show(g *pb.Game, now time.Time) {
	v.leave()
	v.id, v.state = g.GetId(), gamestate.New(g)
	// The list is new, so until the stream says something else the connection is good.
	v.state.Update(client.Update{Connection: client.Connection{State: client.Live}}, now)
}

// watch begins to watch the game, if it is still the one with that id.
func (v *preview) watch(id string, env *ui.Env, tasks *ui.Tasks) tea.Cmd {
	if id == "" || id != v.id || v.cancel != nil {
		return nil
	}
	ctx, cancel := context.WithCancel(tasks.Ctx)
	v.cancel = cancel
	return tasks.Next(id, env.Server.Watch(ctx, id, ui.WatchOptions{Preview: true}))
}

func (v *preview) update(msg ui.UpdateMsg, env *ui.Env, tasks *ui.Tasks) tea.Cmd {
	if msg.GameID != v.id || msg.Err != nil || v.cancel == nil {
		return nil
	}
	v.state.Update(msg.Update, env.Now)
	return tasks.Next(msg.GameID, msg.Stream)
}

// leave ends the stream.
func (v *preview) leave() {
	if v.cancel != nil {
		v.cancel()
	}
	v.cancel = nil
}
