package play

import (
	"context"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/stretchr/testify/assert"

	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/frame"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/tuitest"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/ui"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/widget"
)

// Ensure that the page shows the command for watchers, with the short id of a public game
// and the full id of a private one.
func TestInvitation(t *testing.T) {
	t.Parallel()
	s, _ := asked()
	p, d := newPlay(t, s)
	assert.Contains(t, d.Screen(), "Others watch with gridstand watch kx3fq2ab")
	p.Game.Private = true
	assert.Contains(t, d.Screen(), tuitest.GameID)
}

// Ensure that a game on a server with a public address has a web link, that the link is
// shown only if it fits on one line, and that y copies it.
func TestInvitation_Link(t *testing.T) {
	t.Parallel()
	s, _ := asked()
	env := tuitest.Env(s)
	env.Site = "http://192.168.100.200:2048"
	const link = "http://192.168.100.200:2048/g/" + tuitest.GameID
	d := tuitest.New(t, env, func(ctx context.Context, env *ui.Env) ui.Page {
		return New(ctx, env, tuitest.Game(tuitest.Board(4, 4)))
	})
	p := d.Page.(*page)
	assert.Contains(t, d.Screen(), "In a browser: "+link)
	d.Env.Width = 60
	assert.Contains(t, d.Screen(), "\n "+link)
	d.Env.Width = 50
	assert.NotContains(t, d.Screen(), "http")
	d.Env.Width, d.Env.Height = 80, ui.StatusHeight-1
	assert.NotContains(t, d.Screen(), "http", "the board is more important")
	d.Env.Height = 24
	assert.Equal(t, tea.SetClipboard(link)(), p.Key(tea.KeyPressMsg{Code: 'y', Text: "y"})())
	assert.Contains(t, d.Screen(), "Copied "+link+".")
	d.Env.Width = 50
	assert.Contains(t, d.Screen(), "Copied the link of the game.")
	assert.Contains(t, frame.Help(d.Env, p.Keys(), widget.NewScroll()), "copy link")
}
