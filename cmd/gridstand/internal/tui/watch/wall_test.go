package watch

import (
	"slices"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"

	"github.com/gridstand/gridstand/client"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/gamestate"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/tuitest"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/ui"
	"github.com/gridstand/gridstand/internal/convert"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// Ensure that the wall shows games side by side if they fit and otherwise one of them, and
// that enter opens the selected game, which is then watched on its own page only.
func TestWall(t *testing.T) {
	t.Parallel()
	server := &tuitest.Server{}
	env := tuitest.Env(server)
	w := newWall(t.Context(), env, []string{"first", "second"}, false)
	d := tuitest.Drive(t, env, w)
	assert.Contains(t, d.Screen(), "connecting")
	server.Stream("first").Push(client.Update{Game: liveGame("first", 1, 0)})
	g := liveGame("second", 2, 0)
	g.Seats[0].GetPlayer().Name = "bob with a longer name"
	g.Position.Board = &pb.Position_Twenty48{Twenty48: tuitest.Board(5, 5)}
	server.Stream("second").Push(client.Update{Game: g})
	d.Until("both games", func() bool { return w.games[0].Board() != nil && w.games[1].Board() != nil })
	env.Width, env.Height = 120, 30
	assert.Regexp(t, "1 ada.*● live.*2 bob with a longer name  classic .*● live", d.Screen(), "on one line, with room beside it")
	env.Width, env.Height = 40, 12
	assert.Contains(t, d.Screen(), "1 ada")
	assert.NotContains(t, d.Screen(), "bob")
	d.Press("tab").Shows("2 bob")
	d.Press("1", "enter")
	assert.Equal(t, ui.OpenMsg{Route: ui.Route{Watch: []string{"first"}}}, d.Leave())
	env.Theme.Still = false
	w.games[0].Motion.Start(env, w.Tasks)
	env.Theme.Still = true
	require.Less(t, w.games[0].Motion.Progress(), 1.0)
	w.Pause() // as the program does when that page opens
	assert.Equal(t, 1.0, w.games[0].Motion.Progress(), "the move is shown whole when the wall is visible again")
	newer := liveGame("first", 1, 0)
	newer.Version++
	server.Stream("first").Push(client.Update{Game: newer})
	require.Error(t, w.Ctx.Err(), "the viewer watches the game on the other page only")
	assert.Len(t, server.Stream("first"), 1)
	d.Send(ui.Then(w.Resumed))
	d.Until("what has happened since", func() bool { return w.games[0].Game.GetVersion() == newer.GetVersion() })
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

// Ensure that a wall prefers a second row of smaller boards to titles that truncate the names of guests.
func TestWall_Titles(t *testing.T) {
	t.Parallel()
	for _, theme := range []ui.Theme{{ASCII: true}, tuitest.Env(nil).Theme} {
		env := tuitest.Env(&tuitest.Server{})
		env.Theme, env.Width, env.Height = theme, 120, 24
		w := newWall(t.Context(), env, []string{"a", "b", "c", "d"}, false)
		defer w.Own().Stop()
		for _, s := range w.games {
			g := liveGame(s.Game.GetId(), 1, 0)
			g.Seats[0].GetPlayer().Name = "guest-2345ab"
			g.Position.Scores = []int32{102_040}
			s.Update(client.Update{Game: g, Connection: client.Connection{State: client.Live}})
		}
		titles := `1 guest-2345ab  classic +102,040 .*2 guest-2345ab .*\n(.*\n)+.*3 guest-2345ab .*4 guest-2345ab `
		assert.Regexp(t, titles, ansi.Strip(ui.Draw(env, w, false).Content))
	}
}

// Ensure that a wall of the best games waits for a server and for games, that any live games take its empty
// places, and that others in motion then take the places of those that are over or idle.
func TestWall_Best(t *testing.T) {
	t.Parallel()
	var live []*pb.Game
	away := error(&client.Error{Code: codes.Unavailable, Message: "dial tcp: connection refused"})
	s := &tuitest.Server{OnLiveGames: func(pb.OrderBy) ([]*pb.Game, error) { return live, away }}
	env, now := tuitest.Env(s), tuitest.Noon
	env.Clock = func() time.Time { return now }
	w := New(t.Context(), env, ui.Route{Wall: true}).(*wall)
	d := tuitest.Drive(t, env, w)
	assert.Contains(t, d.Screen(), "Looking for a game …")
	d.Until("an answer", func() bool { return w.asked })
	assert.Contains(t, d.Screen(), "It may have ended; q leaves.")
	d.Press("tab", "1", "enter")
	assert.Empty(t, d.Left)
	shown := func() []string {
		return convert.All(w.games, func(s *gamestate.State) string { return s.Game.GetId() })
	}
	check := func(want ...string) {
		d.Send(ui.Then(w.check))
		d.Until(strings.Join(want, ", "), func() bool { return w.problem == "" && slices.Equal(want, shown()) })
	}
	away = nil
	check()
	assert.Contains(t, d.Screen(), "No live games.")
	d.Press("n")
	assert.Equal(t, ui.OpenMsg{Route: ui.Route{New: &ui.NewGame{Variant: "classic"}}}, d.Leave())
	live = []*pb.Game{liveGame("over", 0, 0)}
	check("over")
	assert.NotRegexp(t, "select|next game", d.Screen(), "there is nothing to choose")
	live = append(live, liveGame("idle", 0, 0), liveGame("live", 0, 0))
	check("over", "idle", "live")
	unmoved := liveGame("unmoved", 0, 0)
	unmoved.GetPosition().MoveCount = 0
	live = append(live, unmoved)
	check("over", "idle", "live", "unmoved")
	show := func(g *pb.Game) {
		s.Stream(g.GetId()).Push(client.Update{Game: g})
		d.Until("its board", func() bool {
			return slices.ContainsFunc(w.games, func(s *gamestate.State) bool {
				return s.Game.GetId() == g.GetId() && s.Board() != nil
			})
		})
	}
	over := liveGame("over", 0, resultTime-time.Second)
	over.Status, over.Result = pb.GameStatus_GAME_STATUS_FINISHED, &pb.Result{Reason: pb.Result_REASON_NO_MOVES, Scores: []int32{4}}
	show(over)
	show(liveGame("idle", 0, idleTime-time.Second))
	show(liveGame("live", 0, 0))
	for _, s := range w.games {
		assert.False(t, w.dull(s), s.Game.GetId())
	}
	now = now.Add(time.Second)
	live = []*pb.Game{liveGame("live", 0, 0), liveGame("other", 0, gamestate.MotionTime), liveGame("next", 0, 0)}
	check("next", "idle", "live", "unmoved") // no other game is in motion
	show(live[2])
	live = append(live, liveGame("last", 0, 0))
	check("next", "last", "live", "unmoved")
}

// Ensure that the pages of one game and of several say why a game is not shown.
func TestWatch_Unavailable(t *testing.T) {
	t.Parallel()
	for _, games := range [][]string{{"first"}, {"first", "second"}} {
		server := &tuitest.Server{}
		env := tuitest.Env(server)
		d := tuitest.Drive(t, env, New(t.Context(), env, ui.Route{Watch: games}))
		away := client.Connection{State: client.Reconnecting, Attempt: 3, Err: client.ErrUnreachable}
		server.Stream("first").Push(client.Update{Connection: away})
		d.Until("the reason", func() bool { return strings.Contains(d.Screen(), "does not answer") })
	}
}

// Ensure that the log of Tribolo has room for all cells, and that a low window shows whose turn it is and all scores.
func TestTribolo_Low(t *testing.T) {
	t.Parallel()
	env := tuitest.Env(&tuitest.Server{})
	p := New(t.Context(), env, ui.Route{Watch: []string{tuitest.GameID}}).(*page)
	defer p.Own().Stop()
	followTribolo(t, p.game)
	p.game.Log[0].What = "green f,10"
	assert.Regexp(t, ` 41  green f,10 +\+4`, ansi.Strip(ui.Draw(env, p, false).Content))
	env.Width, env.Height = 40, 15
	assert.Regexp(t, `(?s) B  ada \(you\) +22 .* R  greedy +36 .* G  minimax +19 .* GREEN  to move`,
		ansi.Strip(ui.Draw(env, p, false).Content))
	p.game.Game.Seats[0].GetPlayer().Name = "guest-2345ab"
	env.Width = 42
	assert.Contains(t, ansi.Strip(ui.Draw(env, p, false).Content), " B  guest-2345ab (you) ")
	env.Height = 12
	for _, env.Width = range []int{24, 30} {
		assert.Regexp(t, `(?s) B  gues\S*… \(you\) +22 .* R  greedy +36 .* G  minimax +19 .* GREEN  to move`,
			ansi.Strip(ui.Draw(env, p, false).Content))
	}
}

// Ensure that every seat of a game of Tribolo has one row on the wall, also if its name has to be cut.
func TestWall_Tribolo(t *testing.T) {
	t.Parallel()
	env := tuitest.Env(&tuitest.Server{})
	w := newWall(t.Context(), env, []string{"a", "b", "c", "d"}, false)
	defer w.Own().Stop()
	for i, id := range []string{"a", "b", "c", "d"} {
		g := newGame(id, env.Now)
		followTribolo(t, g)
		seat := g.Game.GetSeats()[0].GetPlayer()
		seat.Id, seat.Name = tuitest.GameID, "guest-2345ab" // another player
		w.games[i] = &g.State
	}
	assert.Regexp(t, `( +B  guest… +22){4} *\n( +R  greedy +36){4} *\n( +G  minim… +19){4} *\n`,
		ansi.Strip(ui.Draw(env, w, false).Content))
}
