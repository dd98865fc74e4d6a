package gamestate

import (
	"errors"
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/gridstand/gridstand/client"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// MaxEntrants is the maximum number of players and bots in a race.
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
		if id := e.GetGameId(); id != "" && id != c.own && c.Games[id] == nil && len(c.Games) < MaxEntrants {
			c.Games[id] = new(New(&pb.Game{Id: id}))
			cmds = append(cmds, c.watch(c.Games[id]))
		}
	}
	return tea.Batch(cmds...)
}

// watch follows a board. While the server hides it, watch tries again.
func (c *Contest) watch(s *State) tea.Cmd {
	options := client.WatchOptions{Preview: c.own != ""}
	return s.Follow(c.env, c.tasks, options, func(_ client.Update, changed bool) tea.Cmd {
		switch {
		case errors.Is(s.Err, client.ErrChallengeNotOpen):
			return c.tasks.Later(RetryTime, func() tea.Cmd { return c.watch(s) })
		case changed:
			return s.Show(c.env, c.tasks, true)
		}
		return nil
	})
}

// followed returns the entrants whose boards are followed.
func (c *Contest) followed() []*pb.Entrant {
	return slices.DeleteFunc(slices.Clone(c.GetEntrants()), func(e *pb.Entrant) bool { return c.Games[e.GetGameId()] == nil })
}
