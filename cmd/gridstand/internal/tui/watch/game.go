// Package watch implements the pages for watching games: one game, TV, the games of a
// player, a replay, and several games side by side.
package watch

import (
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/gridstand/gridstand/client"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/gamestate"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// game is the game that a page of one game shows.
type game struct {
	gamestate.State
	past  past
	since time.Time // when the page started to show it
}

// newGame returns the game with a full id.
func newGame(id string, now time.Time) *game {
	return &game{State: gamestate.New(&pb.Game{Id: id}), since: now, past: past{events: map[int32]*pb.Event{}}}
}

// watch starts following the page's game.
func (p *page) watch() tea.Cmd {
	g := p.game
	return g.Follow(p.env, p.Tasks, client.WatchOptions{}, func(u client.Update, changed bool) tea.Cmd {
		react := p.React(u.Reactions)
		if !changed {
			return react
		}
		g.past.add(eventOf(u))
		if g.lookingBack() {
			return tea.Batch(react, g.Show(p.env, p.Tasks, false))
		}
		return tea.Batch(react, p.ShowNews(g.Milestone), g.Show(p.env, p.Tasks, true))
	})
}

// running reports whether more events may arrive.
func (g *game) running() bool { return g != nil && !g.Over() && g.Err == nil }
