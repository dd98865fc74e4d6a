package watch

import (
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
	"github.com/stretchr/testify/assert"
	"google.golang.org/grpc/codes"

	"github.com/gridstand/gridstand/client"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/tuitest"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/ui"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// Ensure that the wall shows games side by side if they fit and otherwise one of them, and
// that enter opens the selected game.
func TestWall(t *testing.T) {
	t.Parallel()
	server := &tuitest.Server{}
	env := tuitest.Env(server)
	w := newWall(t.Context(), env, []string{"first", "second"})
	d := tuitest.Drive(t, env, w)
	assert.Contains(t, d.Screen(), "connecting")
	server.Stream("first").Push(client.Update{Game: liveGame("first", 1, 0)})
	g := liveGame("second", 2, 0)
	g.Seats[0].GetPlayer().Name = "bob"
	g.Position.Board = &pb.Position_Twenty48{Twenty48: tuitest.Board(5, 5)}
	server.Stream("second").Push(client.Update{Game: g})
	d.Until("both games", func() bool { return w.games[0].state.Board() != nil && w.games[1].state.Board() != nil })
	env.Width, env.Height = 120, 30
	assert.Regexp(t, "1 ada.*● live.*2 bob.*● live", d.Screen(), "on one line")
	env.Width, env.Height = 40, 12
	assert.Contains(t, d.Screen(), "1 ada")
	assert.NotContains(t, d.Screen(), "bob")
	d.Press("tab")
	assert.Contains(t, d.Screen(), "2 bob")
	assert.Contains(t, w.ClosingMessage(), "bob")
	d.Press("1", "enter")
	assert.Equal(t, ui.OpenMsg{Route: ui.Route{Watch: []string{"first"}}}, d.Leave())
	d.Press("2", "3", "enter")
	assert.Equal(t, ui.OpenMsg{Route: ui.Route{Watch: []string{"second"}}}, d.Leave())
	for _, code := range []rune{tea.KeyKp1, '&'} { // a keypad, and a terminal that sends the text with another key
		d.Send(tea.KeyPressMsg{Code: code, Text: "1"})
		assert.Equal(t, 0, w.at)
		assert.Contains(t, d.Screen(), "1 ada")
		d.Press("2")
	}
	d.Press("q", "esc")
	assert.Equal(t, ui.BackMsg{}, d.Leave())
	assert.Equal(t, ui.BackMsg{}, d.Leave())
}

// Ensure that the pages of one game and of several say why a game is not shown.
func TestWatch_Unavailable(t *testing.T) {
	t.Parallel()
	for _, games := range [][]string{{"first"}, {"first", "second"}} {
		server := &tuitest.Server{}
		env := tuitest.Env(server)
		d := tuitest.Drive(t, env, New(t.Context(), env, ui.Route{Watch: games}))
		noTLS := &client.Error{Code: codes.Unavailable, Cause: client.CauseNoTLS}
		server.Stream("first").Push(client.Update{Connection: client.Connection{State: client.Reconnecting, Err: noTLS}})
		d.Until("the cause", func() bool { return strings.Contains(d.Screen(), "without TLS") })
	}
}

// Ensure that a low window shows whose turn it is in Tribolo and all scores.
func TestTribolo_Low(t *testing.T) {
	t.Parallel()
	env := tuitest.Env(&tuitest.Server{})
	p := New(t.Context(), env, ui.Route{Watch: []string{tuitest.GameID}}).(*page)
	defer p.Own().Stop()
	followTribolo(t, p.game)
	env.Width, env.Height = 40, 15
	assert.Regexp(t, `(?s) B  ada \(you\) +22 .* R  greedy +36 .* G  minimax +19 .* GREEN  to move`,
		ansi.Strip(ui.Draw(env, p, false).Content))
}
