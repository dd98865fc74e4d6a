package gamestate

import (
	"context"
	"errors"
	"io"
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/gridstand/gridstand/client"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/ui"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// MaxEntrants is the maximum number of players in a race.
const MaxEntrants = 8

// RetryTime is the delay before a page retries a request for a board that the server still
// hides. The server hides it if the client's clock is ahead, so that the request arrives
// before the race opens.
const RetryTime = 100 * time.Millisecond

// follow starts following the boards of an open race that are not followed yet.
func (c *Contest) follow() tea.Cmd {
	if !c.Race() || !c.Open() && !c.Closed() {
		return nil
	}
	var cmds []tea.Cmd
	for _, e := range c.GetEntrants() {
		if id := e.GetGameId(); id != "" && id != c.own && c.boards[id] == nil && len(c.boards) < MaxEntrants {
			s := New(nil)
			c.boards[id] = &s
			cmds = append(cmds, c.watch(id))
		}
	}
	return tea.Batch(cmds...)
}

func (c *Contest) watch(gameID string) tea.Cmd {
	stream := c.env.Server.Watch(c.tasks.Ctx, client.WatchOptions{GameID: gameID, Preview: c.own != ""})
	return ui.Follow(c.tasks, stream, func(u client.Update, err error) tea.Cmd { return c.UpdateBoard(gameID, u, err) })
}

// UpdateBoard handles an update of a followed board, or the end of its stream.
func (c *Contest) UpdateBoard(gameID string, u client.Update, err error) tea.Cmd {
	s := c.boards[gameID]
	switch {
	case errors.Is(err, client.ErrChallengeNotOpen):
		return c.tasks.Later(RetryTime, func() tea.Cmd { return c.watch(gameID) })
	case err != nil:
		if !errors.Is(err, io.EOF) && !errors.Is(err, context.Canceled) {
			s.Err = err
		}
		return nil
	case !s.Update(u, c.env.Now):
		return nil
	}
	return s.Show(c.env, c.tasks, true)
}

// followed returns the entrants whose boards are followed.
func (c *Contest) followed() []*pb.Entrant {
	return slices.DeleteFunc(slices.Clone(c.GetEntrants()), func(e *pb.Entrant) bool { return c.boards[e.GetGameId()] == nil })
}
