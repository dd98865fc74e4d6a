package watch

import (
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/gridstand/gridstand/client"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/gamestate"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/tuitest"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/ui"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// aBoard returns the board of the games in these tests.
func aBoard() *pb.Twenty48Board { return tuitest.Board(4, 4) }

// watching opens the page of one game. The test pushes the game to the returned stream.
func watching(t *testing.T, s *tuitest.Server) (*tuitest.Driver, *page, tuitest.Stream) {
	t.Helper()
	env := tuitest.Env(s)
	p := New(t.Context(), env, ui.Route{Watch: []string{tuitest.GameID}}).(*page)
	return tuitest.Drive(t, env, p), p, s.Stream(tuitest.GameID)
}

// until waits until the page has received the given version.
func until(d *tuitest.Driver, p *page, version int32) {
	d.Until("a version", func() bool { return p.game != nil && p.game.Game.GetVersion() == version })
}

// Ensure that the page shows a game from the connection to its result.
func TestWatch(t *testing.T) {
	t.Parallel()
	d, p, from := watching(t, &tuitest.Server{})
	assert.Contains(t, d.Screen(), "connecting")
	from.Push(client.Update{Game: tuitest.Game(aBoard())})
	until(d, p, 613)
	count := int32(41)
	from.Push(client.Update{Audience: &count})
	from.Push(client.Update{Event: tuitest.Moved(614, pb.Direction_DIRECTION_LEFT, aBoard(), 12344)})
	until(d, p, 614)
	d.Shows("● live  41 watching", "move 613")
	d.Press("n", "b", "up") // these keys have no effect on this page
	assert.Empty(t, d.Left)
	from.Push(client.Update{Event: tuitest.Ended(615, pb.Result_REASON_NO_MOVES)})
	close(from)
	d.Until("the end", func() bool { return !p.game.running() })

	title := "Game over: no moves left"
	assert.Contains(t, p.View(80, 20).Body, d.Env.Theme.Bad().Bold(true).Render(title))
	d.Env.Me = ""
	assert.Contains(t, p.View(80, 20).Body, d.Env.Theme.Bold().Render(title), "not bad for a watcher")
	assert.Equal(t, tea.SetClipboard("gridstand watch "+tuitest.GameID)(), ui.Press(p, tea.KeyPressMsg{Code: 'y', Text: "y"})())
	assert.Contains(t, d.Screen(), "Sent to the terminal's clipboard: gridstand watch "+tuitest.GameID)
	d.Press("r")
	assert.Equal(t, ui.OpenMsg{Route: ui.Route{Rules: "classic"}}, d.Leave())
	d.Press("b")
	assert.Equal(t, tuitest.GameID, d.Leave().(ui.OpenMsg).Route.NewChallenge.Request.GetGameId(), "for others to beat it")
	g := p.game
	assert.True(t, g.RematchKey(d.Env).Enabled())
	g.Game.Seats = append(g.Game.Seats, g.Game.GetSeats()[0])
	assert.False(t, g.RematchKey(d.Env).Enabled(), "the score of a game with two seats is nobody's own")
	d.Press("q")
	assert.Equal(t, ui.BackMsg{}, d.Leave())
}

// Ensure that the panel of a low board has several of the last moves and, after the end, the whole command that
// verifies the game.
func TestWatch_Low(t *testing.T) {
	t.Parallel()
	d, p, _ := watching(t, &tuitest.Server{})
	followTribolo(t, p.game)
	for version := int32(614); version < 620; version++ {
		p.game.Log = append(p.game.Log, gamestate.Entry{Version: version, Move: 40, What: "earlier"})
	}
	assert.Equal(t, 5, strings.Count(d.Screen(), "earlier"))
	p.game.Game.GetSeats()[0].Resigned = true
	p.game.Game.Status, p.game.Game.Result = pb.GameStatus_GAME_STATUS_FINISHED, &pb.Result{Winners: []int32{1}}
	assert.Regexp(t, `  verify with\n.*  gridstand verify\n +kx3fq2abcdefghijklmnopqr\n +st\n`, d.Screen())
}

// Ensure that the page does not offer to verify an attempt at once while its challenge is open.
func TestWatch_Sealed(t *testing.T) {
	t.Parallel()
	d, p, from := watching(t, &tuitest.Server{})
	attempt := tuitest.Game(aBoard())
	attempt.ChallengeId = "a challenge"
	from.Push(client.Update{Game: attempt})
	until(d, p, 613)
	from.Push(client.Update{Event: tuitest.Ended(614, pb.Result_REASON_NO_MOVES)})
	close(from)
	d.Until("the end", func() bool { return !p.game.running() })
	assert.Contains(t, d.Screen(), "when its challenge has closed, verify")
	d.Press("b")
	assert.Empty(t, d.Left, "its tiles are secret")

	p.game.Game.Seed = []byte("a seed")
	assert.NotContains(t, d.Screen(), "when its challenge has closed")
}

// history returns the events of the game up to a version.
func history(last int32) []*pb.Event {
	var all []*pb.Event
	for v := int32(1); v <= last; v++ {
		e := tuitest.Moved(v, pb.Direction_DIRECTION_UP, aBoard(), v)
		if v == 1 {
			e.Action = &pb.Event_Created{Created: &pb.Created{Variant: "classic", Seats: tuitest.Game(nil).GetSeats()}}
		}
		all = append(all, e)
	}
	return all
}

// at returns the version that a page shows.
func at(p *page) int32 { return p.game.shown().Game.GetVersion() }

// Ensure that the user can step back in a live game, even to versions from before the page
// was opened, and return to the live version.
func TestReplay_Steps(t *testing.T) {
	t.Parallel()
	d, p, from := watching(t, &tuitest.Server{Past: history(613)})
	from.Push(client.Update{Game: tuitest.Game(aBoard())})
	from.Push(client.Update{Event: tuitest.Moved(614, pb.Direction_DIRECTION_LEFT, aBoard(), 12344)})
	from.Push(client.Update{Event: tuitest.Moved(615, pb.Direction_DIRECTION_LEFT, aBoard(), 12348)})
	until(d, p, 615)

	d.Press("left")
	assert.EqualValues(t, 614, at(p))
	d.Shows("move 613 of 614", "12,344")
	assert.NotContains(t, d.Screen(), "12,348")
	from.Push(client.Update{Event: tuitest.Moved(616, pb.Direction_DIRECTION_LEFT, aBoard(), 12352)})
	until(d, p, 616)
	assert.EqualValues(t, 614, at(p), "the board stays at its version")
	d.Press("left", "left")
	d.Until("the earlier version", func() bool { return at(p) == 612 })
	d.Press("right", "right", "right")
	assert.EqualValues(t, 615, at(p))
	d.Press("right")
	assert.False(t, p.game.lookingBack())
	d.Press(" ")
	assert.EqualValues(t, 616, p.game.past.at, "paused")
	d.Press("l")
	assert.False(t, p.game.lookingBack())
	d.Press("pgup")
	assert.EqualValues(t, 606, at(p))
	d.Press("pgdown", "left", "end")
	assert.False(t, p.game.lookingBack())
}

// Ensure that home goes to the start of a long game without loading the middle, and that no
// version is loaded twice.
func TestReplay_Home(t *testing.T) {
	t.Parallel()
	g := tuitest.Game(aBoard())
	g.Version = 900
	s := &tuitest.Server{Past: history(900)}
	d, p, from := watching(t, s)
	from.Push(client.Update{Game: g})
	until(d, p, 900)
	d.Press("home").Shows("loading …")
	d.Until("the start", func() bool { return at(p) == 1 })
	assert.Len(t, p.game.past.events, pastChunk+1)
	s.Past = []*pb.Event{} // from here on, nothing can be loaded
	d.Press("end", "home")
	assert.EqualValues(t, 1, at(p))
	assert.Contains(t, d.Screen(), "move 0 of 612")
	d.Press("pgdown", "right", "left")
	assert.EqualValues(t, 11, at(p))

	ui.Press(p, tea.KeyPressMsg{Code: tea.KeyEnd})
	d.Press("pgup")
	d.Until("an answer", func() bool { return !p.game.past.loading })
	assert.EqualValues(t, 900, at(p), "the version stays the same")
	assert.Contains(t, d.Screen(), "did not send this part")
	d.Press("x")
	assert.NotContains(t, d.Screen(), "did not send this part")
	p.game.show(1)
	d.Press(" ")
	assert.True(t, p.player.on, "the replay goes on")
}

// Ensure that a replay shows undone moves.
func TestReplay_Undo(t *testing.T) {
	t.Parallel()
	d, p, from := watching(t, &tuitest.Server{})
	from.Push(client.Update{Game: tuitest.Game(aBoard())})
	e := tuitest.Moved(614, pb.Direction_DIRECTION_UP, aBoard(), 12000)
	e.Action, e.GetPosition().MoveCount = &pb.Event_Undone{Undone: &pb.Undone{ToVersion: 611}}, 610
	from.Push(client.Update{Event: e})
	next := tuitest.Moved(615, pb.Direction_DIRECTION_LEFT, aBoard(), 12004)
	next.GetPosition().MoveCount = 611
	from.Push(client.Update{Event: next})
	until(d, p, 615)
	d.Press("left").Shows("move 610 of 611 (undone)", "undone, back to move 610")
}

// Ensure that a finished game is replayed from its start to its end.
func TestReplay(t *testing.T) {
	t.Parallel()
	s := &tuitest.Server{Past: history(5)}
	env := tuitest.Env(s)
	p := New(t.Context(), env, ui.Route{Watch: []string{tuitest.GameID}, Replay: true}).(*page)
	d := tuitest.Drive(t, env, p)
	g := tuitest.Game(aBoard())
	g.Version, g.Position.MoveCount, g.Status = 5, 4, pb.GameStatus_GAME_STATUS_FINISHED
	g.Result = &pb.Result{Reason: pb.Result_REASON_NO_MOVES}
	s.Stream(tuitest.GameID).Push(client.Update{Game: g})
	close(s.Stream(tuitest.GameID))
	d.Until("the start", func() bool { return p.game.past.at == 1 })
	assert.Contains(t, d.Screen(), "▶ replay 1×")
	d.Press("+").Shows("▶ replay 2×")
	d.Press("+", "+", "+")
	assert.Equal(t, 4, p.player.speed)
	tick := func() { d.Send(ui.Then(p.step)) }
	tick()
	assert.EqualValues(t, 2, at(p))
	d.Press(" ").Shows("‖ paused")
	tick()
	assert.EqualValues(t, 2, at(p))
	d.Press(" ")
	for range 3 {
		tick()
	}
	assert.False(t, p.game.lookingBack())
	assert.False(t, p.player.on)
	assert.Contains(t, d.Screen(), "■ finished")
	d.Press(" ")
	assert.EqualValues(t, 1, at(p), "starts again")
	require.Contains(t, d.Screen(), "▶ replay")
}

// Ensure that the number of versions in memory is bounded, and that the version on the
// screen is kept.
func TestReplay_Forgets(t *testing.T) {
	t.Parallel()
	p := shown(t, tuitest.Env(nil), tuitest.Game(aBoard()))
	defer p.Own().Stop()
	first := p.game.Game.GetVersion()
	on := func(n int32) {
		for range n {
			p.game.Game.Version++
			p.game.past.add(tuitest.Moved(p.game.Game.GetVersion(), pb.Direction_DIRECTION_UP, aBoard(), 4))
		}
	}
	on(pastLimit - 20)
	p.game.show(first + 1)
	on(pastLimit)
	assert.Equal(t, first+1, at(p))
	assert.LessOrEqual(t, len(p.game.past.events), pastLimit)
	assert.Contains(t, p.game.past.events, p.game.Game.GetVersion())
}
