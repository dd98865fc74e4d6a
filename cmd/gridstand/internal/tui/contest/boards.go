package contest

import (
	"context"
	"errors"
	"io"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/gridstand/gridstand/client"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/gamestate"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/ui"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// boards holds the boards of a race's attempts that the page follows.
type boards struct {
	wanted  bool
	except  string // the game that the page itself shows, or ""
	preview bool
	all     []*attempt // in roster order
}

// attempt is an attempt at a race whose game is followed.
type attempt struct {
	id     string
	state  gamestate.State
	stream ui.Stream
	motion ui.Motion
}

// MaxEntrants is the maximum number of players in a race.
const MaxEntrants = 8

// RetryTime is the delay before a page retries a request for a board that the server still
// hides. The server hides it if the client's clock is ahead, so that the request arrives
// before the race opens.
const RetryTime = 100 * time.Millisecond

// retryMsg is sent when it is time to retry.
type retryMsg struct{ attempt *attempt }

// Follow follows the boards of a race once the race is open. except is the id of a game
// whose board is not followed, or "". If preview is set, the server does not count the user
// as a watcher.
func (c *Contest) Follow(except string, preview bool) tea.Cmd {
	c.boards.wanted, c.boards.except, c.boards.preview = true, except, preview
	return c.boards.follow(c)
}

// Followed returns the number of boards that are followed.
func (c *Contest) Followed() int { return len(c.boards.all) }

// follow starts following the boards that are not followed yet.
func (b *boards) follow(c *Contest) tea.Cmd {
	if !b.wanted || !c.Race() || !c.Open() && !c.Closed() {
		return nil
	}
	var cmds []tea.Cmd
	for _, e := range c.GetEntrants()[:min(len(c.GetEntrants()), MaxEntrants)] {
		if id := e.GetGameId(); id != "" && id != b.except && b.of(id) == nil {
			a := &attempt{id: id, state: gamestate.New(nil)}
			b.all = append(b.all, a)
			cmds = append(cmds, b.watch(c, a))
		}
	}
	return tea.Batch(cmds...)
}

func (b *boards) watch(c *Contest, a *attempt) tea.Cmd {
	a.stream = c.env.Server.Watch(c.tasks.Ctx, a.id, ui.WatchOptions{Preview: b.preview})
	return c.tasks.Next(a.id, a.stream)
}

// of returns the attempt with the given game, or nil if that game is not followed.
func (b *boards) of(gameID string) *attempt {
	for _, a := range b.all {
		if a.id == gameID {
			return a
		}
	}
	return nil
}

// update handles a message about one of the boards, and reports whether msg was one.
func (b *boards) update(c *Contest, msg tea.Msg) (tea.Cmd, bool) {
	switch msg := msg.(type) {
	case ui.UpdateMsg:
		if a := b.of(string(msg.GameID)); a != nil {
			return a.update(c, msg), true
		}
	case ui.FrameMsg:
		for _, a := range b.all {
			if cmd := a.motion.Update(msg, c.env, c.tasks); cmd != nil {
				return cmd, true
			}
			if a.motion.Progress() >= 1 {
				a.state.Unmark()
			}
		}
	case retryMsg:
		return b.watch(c, msg.attempt), true
	}
	return nil, false
}

func (a *attempt) update(c *Contest, msg ui.UpdateMsg) tea.Cmd {
	switch {
	case errors.Is(msg.Err, client.ErrChallengeNotOpen):
		return c.tasks.After(RetryTime, retryMsg{a})
	case msg.Err != nil:
		a.state.Lost = !errors.Is(msg.Err, io.EOF) && !errors.Is(msg.Err, context.Canceled)
		return nil
	}
	next := c.tasks.Next(a.id, a.stream)
	if !a.state.Update(msg.Update, c.env.Now) {
		return next
	}
	a.motion.Stop()
	if a.state.Before == nil {
		return next
	}
	move := a.motion.Start(c.env, c.tasks)
	if move == nil {
		a.state.Unmark()
	}
	return tea.Batch(next, move)
}

// score returns the score to show for an attempt. If its board is followed, the score is
// that of the board, which is newer than the standings.
func (c *Contest) score(gameID string) int32 {
	if a := c.boards.of(gameID); a != nil && a.state.Game.Game != nil {
		return a.state.Score()
	}
	return c.Standing(gameID).GetScore()
}

// entrants returns the entrants whose boards are followed.
func (b *boards) entrants(c *Contest) []*pb.Entrant {
	var shown []*pb.Entrant
	for _, e := range c.GetEntrants() {
		if b.of(e.GetGameId()) != nil {
			shown = append(shown, e)
		}
	}
	return shown
}
