package play

import (
	"context"
	"slices"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/gridstand/gridstand/client"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/board"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/tuitest"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/ui"
	"github.com/gridstand/gridstand/game/replay"
	"github.com/gridstand/gridstand/internal/describe"
	waittest "github.com/gridstand/gridstand/internal/testkit/wait"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
	"github.com/gridstand/gridstand/proto/translate"
)

// adaAndBots returns the seats of ada and two bots.
func adaAndBots() []replay.Seat {
	return []replay.Seat{{Player: replay.Player{ID: tuitest.Me, Name: "ada"}}, {Bot: "greedy"}, {Bot: "minimax"}}
}

// someTribolo returns the page of a game on ada's turn.
func someTribolo(t testing.TB, env *ui.Env) *page {
	t.Helper()
	before := tuitest.Tribolo(t, tuitest.GameID, 8, adaAndBots()...)
	last := tuitest.Tribolo(t, tuitest.GameID, 9, adaAndBots()...)
	p := New(context.Background(), env, translate.Game(before.State, 3)).(*page)
	p.State.Update(client.Update{
		Event: translate.Event(last), Connection: client.Connection{State: client.Live},
	})
	require.True(t, p.mine())
	require.Equal(t, last.Change.Gained, p.Log[0].Gained)
	p.jumping().cursor = &pb.Cell{}
	return p
}

func (p *page) jumping() *jumping { return p.mode.(*jumping) }

// newTribolo opens the page that someTribolo returns.
func newTribolo(t *testing.T, s *tuitest.Server) (*page, *tuitest.Driver) {
	t.Helper()
	env := tuitest.Env(s)
	p := someTribolo(t, env)
	return p, tuitest.Drive(t, env, p)
}

// most returns the legal move that takes the most cells.
func most(b *pb.TriboloBoard) *pb.TriboloMove {
	return slices.MaxFunc(b.GetLegalMoves(), func(a, b *pb.TriboloMove) int { return len(a.GetTaken()) - len(b.GetTaken()) })
}

// Ensure that keys and clicks jump to a legal target, and that the page explains why a jump
// is illegal.
func TestJump(t *testing.T) {
	t.Parallel()
	jumped := make(chan client.Move, 2)
	s := &tuitest.Server{OnMove: func(_ context.Context, version int32, m client.Move, byBot bool) (*pb.Event, error) {
		assert.EqualValues(t, 10, version)
		assert.False(t, byBot)
		jumped <- m
		return nil, client.FromError(&client.Error{Reason: pb.ReasonVersionConflict})
	}}
	s.OnGame = func() (*pb.Game, error) {
		return translate.Game(tuitest.Tribolo(t, tuitest.GameID, 8, adaAndBots()...).State, 3), nil
	}
	p, d := newTribolo(t, s)
	target := most(p.Tribolo()).GetCell()
	beside := &pb.Cell{X: target.GetX() + 1, Y: target.GetY()}
	p.jumping().cursor = beside
	p.Tribolo().LegalMoves = slices.DeleteFunc(p.Tribolo().LegalMoves, func(m *pb.TriboloMove) bool {
		return board.SameCell(m.GetCell(), beside)
	})
	d.Press(" ")
	assert.Contains(t, d.Screen(), "it needs a line of one opponent's cells from there to yours", "explains the rule")
	d.Press("left", "t").Shows(describe.Cell(target) + " takes")
	d.Press(" ")
	d.Until("the refusal", func() bool { return p.inFlight == nil })
	require.Len(t, jumped, 1)
	assert.Equal(t, client.Jump(target), <-jumped)
	assert.Contains(t, d.Screen(), "The game has changed.")
	d.Press("t")
	assert.NotContains(t, d.Screen(), describe.Cell(target)+" takes")
	wall := slices.Index(p.Tribolo().GetCells(), pb.CellState_CELL_STATE_WALL)
	p.jumping().cursor = &pb.Cell{X: int32(wall) % p.Tribolo().GetColumns(), Y: int32(wall) / p.Tribolo().GetColumns()}
	d.Press("enter").Shows("a jump goes to an empty cell")
	d.Press("x")
	assert.NotContains(t, d.Screen(), "a jump goes to an empty cell", "the text is gone after the next key")

	v := ui.Draw(d.Env, p, false)
	x, y := int(target.GetX()), int(target.GetY())
	lines := strings.Split(ansi.Strip(v.Content), "\n")
	top := slices.IndexFunc(lines, func(l string) bool { return strings.Contains(l, "┏") })
	left := strings.Index(lines[top], "┏") // the byte offset is also the column, since only spaces precede it
	click := v.OnMouse(tea.MouseClickMsg{X: left + 1 + x*3, Y: top + 1 + y, Button: tea.MouseLeft})
	require.NotNil(t, click)
	d.Send(click())
	assert.Equal(t, client.Jump(target), waittest.Receive(t, "the jump", jumped))
}

// Ensure that the cursor starts on a legal target, and that Tab visits all of them in order, in both
// directions and also from another cell.
func TestJump_Targets(t *testing.T) {
	t.Parallel()
	p, d := newTribolo(t, &tuitest.Server{})
	p.jumping().cursor = nil
	legal := func() bool { return board.MoveTo(p.Tribolo(), p.jumping().at(p.Tribolo())) != nil }
	assert.True(t, legal(), "at the start")
	n := len(p.Tribolo().GetLegalMoves())
	require.Greater(t, n, 2)
	p.jumping().cursor = &pb.Cell{}
	var visited []*pb.Cell
	for range n {
		d.Press("tab")
		assert.True(t, legal())
		visited = append(visited, p.jumping().cursor)
	}
	assert.True(t, slices.IsSortedFunc(visited, byRow))
	assert.Len(t, slices.CompactFunc(slices.Clone(visited), board.SameCell), n, "each once")
	d.Press("tab")
	assert.Equal(t, visited[0], p.jumping().cursor)
	d.Press("shift+tab")
	assert.Equal(t, visited[n-1], p.jumping().cursor)
	before := &pb.Cell{X: visited[1].GetX() - 1, Y: visited[1].GetY()}
	if !board.SameCell(before, visited[0]) {
		p.jumping().cursor = before
		d.Press("tab")
		assert.Equal(t, visited[1], p.jumping().cursor)
	}
	p.Tribolo().LegalMoves = nil
	d.Press("tab", "shift+tab")
	assert.Equal(t, visited[1], p.jumping().cursor, "without a target it stays")
}

// Ensure that a jump is retried after a version conflict if the board has not changed, for
// example because the other event only credited time.
func TestJump_Again(t *testing.T) {
	t.Parallel()
	made := translate.Event(tuitest.Tribolo(t, tuitest.GameID, 10, adaAndBots()...))
	made.Version = 12
	s := &tuitest.Server{OnMove: func(_ context.Context, version int32, _ client.Move, _ bool) (*pb.Event, error) {
		if version == 10 {
			return nil, client.FromError(&client.Error{Reason: pb.ReasonVersionConflict})
		}
		assert.EqualValues(t, 11, version)
		return made, nil
	}}
	s.OnGame = func() (*pb.Game, error) {
		g := translate.Game(tuitest.Tribolo(t, tuitest.GameID, 9, adaAndBots()...).State, 3)
		g.Version = 11
		return g, nil
	}
	p, d := newTribolo(t, s)
	p.jumping().cursor = most(p.Tribolo()).GetCell()
	d.Press("enter")
	d.Until("the move", func() bool { return p.Game.GetVersion() == 12 })
	assert.Empty(t, p.Notice)
}

// Ensure that the page says so once the user has given up a seat at a table, and that a new game then
// follows without a question.
func TestNew_GivenUp(t *testing.T) {
	t.Parallel()
	p, d := start(t, tuitest.Env(&tuitest.Server{}), translate.Game(tuitest.Tribolo(t, tuitest.GameID, 7, adaAndBots()...).State, 0))
	p.Game.GetSeats()[0].Resigned = true
	p.Game.GetSeats()[0].GetPlayer().Name = strings.Repeat("m", ui.NameLimit)
	assert.Regexp(t, `  B  m{17} 13\n.*  m{7} \(you\),\n.*  gave up\n`, d.Screen())
	d.Press("n")
	assert.Nil(t, p.Dialog)
	assert.Equal(t, "tribolo", d.Leave().(ui.ReplaceMsg).Route.New.Variant)
}

// Ensure that the bell rings once when the user's turn begins, that the title shows it, that the hint on
// jumps is shown only then, and that no answer to an earlier key says otherwise.
func TestTurn(t *testing.T) {
	t.Parallel()
	s := &tuitest.Server{}
	from := s.Stream(tuitest.GameID)
	p, d := start(t, tuitest.Env(s), translate.Game(tuitest.Tribolo(t, tuitest.GameID, 7, adaAndBots()...).State, 0))
	title := func() string { return ui.Draw(d.Env, p, false).WindowTitle }
	require.False(t, p.mine())
	assert.NotContains(t, title(), "Your turn")
	p.Game.GetSeats()[0].GetPlayer().Name = strings.Repeat("m", ui.NameLimit)
	assert.Regexp(t, `  B  m{17} 13\n.*  m{7} \(you\)\n`, d.Screen())
	p.jumping().cursor = most(p.Tribolo()).GetCell()
	d.Press("enter").Shows("! It is not your turn.")
	p.jumping().targets, p.jumping().cursor = true, &pb.Cell{}
	assert.NotContains(t, d.Screen(), "No jump to")
	for n := 8; n <= 9; n++ {
		from.Push(client.Update{Event: translate.Event(tuitest.Tribolo(t, tuitest.GameID, n, adaAndBots()...))})
	}
	d.Until("the turn", p.mine)
	d.Until("the bell", func() bool { return len(d.Heard) > 0 })
	assert.Contains(t, title(), "Your turn")
	assert.NotContains(t, d.Screen(), "It is not your turn.")
	assert.Contains(t, d.Screen(), "No jump to")
	from.Push(client.Update{Connection: client.Connection{State: client.Reconnecting}})
	d.Until("the loss", func() bool { return strings.Contains(d.Screen(), "reconnecting") })
	assert.Equal(t, []tea.Msg{tea.RawMsg{Msg: "\a"}}, d.Heard)
}

// Ensure that a low window shows whose turn it is and all scores, also after the game.
func TestTribolo_Low(t *testing.T) {
	t.Parallel()
	p, d := newTribolo(t, &tuitest.Server{})
	d.Env.Width, d.Env.Height = 40, 15
	assert.Regexp(t, `(?s)▶ Your turn,  BLUE.* B  ada \(you\) +11 .* R  greedy +18 .* G  minimax +16`, d.Screen())
	p.Game.Position.Turn = new(int32(1))
	assert.Regexp(t, `(?s) RED  to move.* B  ada \(you\) +11 .* R  greedy +18 .* G  minimax +16`, d.Screen())
	finish(p, pb.Result_REASON_NO_MOVES)
	assert.Regexp(t, `(?s)You win.* R  greedy +18.* G  minimax +16.* B  ada \(you\) +11`, d.Screen())
}

// Ensure that a low window cuts a guest's name instead of leaving out scores or the invitation.
func TestTribolo_Low_Guest(t *testing.T) {
	t.Parallel()
	p, d := newTribolo(t, &tuitest.Server{})
	p.Game.GetSeats()[0].GetPlayer().Name = "guest-2345ab"
	const you = ` B  gues\S*… \(you\) +11`
	d.Env.Width, d.Env.Height = 30, 17
	assert.Regexp(t, `(?s)`+you+`.*watch`, d.Screen())
	d.Env.Height = 12
	for _, d.Env.Width = range []int{24, 30} {
		assert.Regexp(t, `(?s)▶ Your turn.*`+you+`.* R  greedy +18`, d.Screen())
	}
	finish(p, pb.Result_REASON_NO_MOVES)
	for _, d.Env.Width = range []int{24, 30} {
		assert.Regexp(t, `(?s)You win.* R  greedy +18.* G  minimax +16.*`+you, d.Screen())
	}
	p.Game.GetSeats()[0].Resigned = true
	assert.Regexp(t, ` B  g\S*… \(you\), gave up +11`, d.Screen())
}

// Ensure that the result of a low board has whole names, for which it takes free rows below the board.
func TestTribolo_Result(t *testing.T) {
	t.Parallel()
	p, d := newTribolo(t, &tuitest.Server{})
	p.Game.GetSeats()[0].Resigned = true
	p.Game.GetSeats()[0].GetPlayer().Name = "guest-abcdef"
	finish(p, pb.Result_REASON_NO_MOVES)
	assert.Regexp(t, `G  minimax +16\n.*  B  guest-abcdef +11\n.*  \(you\), gave\n.*  up\n`, d.Screen())
	assert.Contains(t, d.Screen(), "… all time")
}

// Ensure that the help fits in a narrow window and scrolls there.
func TestHelp_Narrow(t *testing.T) {
	t.Parallel()
	p, d := newTribolo(t, &tuitest.Server{})
	d.Env.Height = 15
	for _, d.Env.Width = range []int{40, 24} {
		p.Ask(ui.NewHelp(p.Keys, false))
		assert.Contains(t, d.Screen(), "Keys ↓")
		d.Press("down")
		assert.NotNil(t, p.Dialog)
	}
}

// Ensure that any key takes the seat back from a stand-in, and that an undo can, too.
func TestStandIn(t *testing.T) {
	t.Parallel()
	asked := make(chan int32, 1)
	s := &tuitest.Server{OnJoin: func(seat *int32) (*pb.Game, error) {
		asked <- *seat
		g := translate.Game(tuitest.Tribolo(t, tuitest.GameID, 9, adaAndBots()...).State, 0)
		g.Version = 11
		return g, nil
	}}
	from := s.Stream(tuitest.GameID)
	p, d := newTribolo(t, s)
	d.Press("y").Shows("clipboard")
	out := translate.Event(tuitest.Tribolo(t, tuitest.GameID, 9, adaAndBots()...))
	out.Seat = new(int32)
	out.Version, out.Action = 11, &pb.Event_TimedOut{TimedOut: &pb.TimedOut{StandIn: "greedy"}}
	from.Push(client.Update{Event: out})
	d.Until("the stand-in", func() bool { return p.held() != nil })
	assert.False(t, p.mine())
	assert.Contains(t, d.Screen(), "Any key takes your seat back")
	d.Press("x")
	d.Until("the answer", func() bool { return p.inFlight == nil })
	require.Len(t, asked, 1)
	assert.EqualValues(t, 0, <-asked)
	assert.Nil(t, p.held())

	back := proto.CloneOf(p.Game.Game)
	back.Version = 13
	s.OnGame = func() (*pb.Game, error) { return back, nil }
	out.Version = 12
	from.Push(client.Update{Event: out})
	d.Until("the stand-in again", func() bool { return p.held() != nil })
	undone := &pb.Event{GameId: out.GetGameId(), Version: 13, Position: out.GetPosition()}
	undone.Action = &pb.Event_Undone{Undone: &pb.Undone{ToVersion: 11}}
	from.Push(client.Update{Event: undone})
	d.Until("the seats", func() bool { return p.held() == nil })
}

// Ensure that a new game has the same seats as the game that was given up for it, also if that was over, and
// that the page says that it gives the game up.
func TestNewGame_Seats(t *testing.T) {
	t.Parallel()
	answer := make(chan struct{})
	_, d := newTribolo(t, &tuitest.Server{
		OnResign: func() (*pb.Event, error) { <-answer; return nil, &client.Error{Reason: pb.ReasonGameOver} },
	})
	d.Press("n")
	assert.Regexp(t, `(?s)│ y give up, new game +│.*│ g give up +│.*│ n esc cancel +│`, d.Screen())
	d.Press("y").Shows("Giving up …")
	close(answer)
	seats := d.Leave().(ui.ReplaceMsg).Route.New.Options.Seats
	require.Len(t, seats, 3)
	assert.NotNil(t, seats[0].GetCaller())
	assert.Equal(t, "minimax", seats[2].GetBot())
}

// Ensure that the page shows players as they join, and that the game begins once all seats
// are taken. Until then, a program that shares its server invites others to this game only.
func TestWaiting(t *testing.T) {
	t.Parallel()
	seats := adaAndBots()
	seats[1] = replay.Seat{}
	waiting := tuitest.Tribolo(t, tuitest.GameID, 0, seats...)
	env := tuitest.Env(&tuitest.Server{})
	env.Site, env.Others = "http://192.0.2.2:2048", func() int { return 1 }
	p, d := start(t, env, translate.Game(waiting.State, 0))
	assert.Contains(t, d.Screen(), "gridstand join")
	assert.NotContains(t, d.Screen(), "Others play")
	assert.Contains(t, d.Screen(), "Waiting for 1 player")
	joined, err := waiting.State.Apply(replay.Entry{Seat: 1, Action: replay.Joined{
		Player: replay.Player{ID: "b", Name: "bob"},
	}}, tuitest.Noon)
	require.NoError(t, err)
	p.Apply(translate.Event(joined))
	d.Press("left")
	assert.True(t, p.mine())
	assert.Equal(t, "ada, bob, minimax", p.Player())
	env.Height = 40
	assert.Contains(t, d.Screen(), "Others play")
	env.Others = nil
	assert.Contains(t, d.Screen(), "gridstand watch")
	assert.False(t, p.alone())
	d.Press("u").Shows("Moves of a game with other players cannot be undone.")
}

// Ensure that a game with an open seat invites others, too, once two of its players are there.
func TestWaiting_Two(t *testing.T) {
	t.Parallel()
	seats := adaAndBots()
	seats[1] = replay.Seat{Player: replay.Player{ID: "b", Name: "bob"}}
	seats[2] = replay.Seat{}
	env := tuitest.Env(&tuitest.Server{})
	env.Site = "http://localhost:2048"
	_, d := start(t, env, translate.Game(tuitest.Tribolo(t, tuitest.GameID, 0, seats...).State, 0))
	assert.Regexp(t, `(?s)Waiting for 1 player.*gridstand join, at.*http://localhost:2048/g/`, d.Screen())
	assert.Contains(t, d.Screen(), "\n y link   n new ")
	assert.NotContains(t, d.Screen(), "[", "there is nothing to do with a cursor")
	d.Press("enter").Shows("The game starts when all seats are taken.")
}

// Ensure that a waiting game no longer invites players once it is in quarantine: the server would refuse them.
func TestWaiting_Damaged(t *testing.T) {
	t.Parallel()
	seats := adaAndBots()
	seats[1] = replay.Seat{}
	waiting := tuitest.Tribolo(t, tuitest.GameID, 0, seats...)
	s := &tuitest.Server{}
	p, d := start(t, tuitest.Env(s), translate.Game(waiting.State, 0))
	assert.Regexp(t, `(?s)Others join with.*gridstand join.*y copy command`, d.Screen())
	fails(d, p, s, client.ErrGameDamaged)
	assert.Contains(t, d.Screen(), "! "+client.ErrGameDamaged.Error())
	assert.NotRegexp(t, `Others join|y copy|Waiting for`, d.Screen())
}

// Ensure that the page ignores a board of another kind or size in every message that a faulty server
// might send.
func TestWrongBoard(t *testing.T) {
	t.Parallel()
	sliding := tuitest.Game(tuitest.Board(4, 4))
	jumping := translate.Game(tuitest.Tribolo(t, tuitest.GameID, 9, adaAndBots()...).State, 0)
	small := tuitest.Game(nil)
	small.Position.Scores = make([]int32, 3)
	small.Position.Board = &pb.Position_Tribolo{Tribolo: &pb.TriboloBoard{Rows: 2, Columns: 2, Cells: make([]pb.CellState, 4)}}
	receive := func(p *page, u client.Update) tea.Cmd { return p.updated(u, p.State.Update(u)) }
	for name, games := range map[string][2]*pb.Game{"2048": {sliding, jumping}, "Tribolo": {jumping, sliding}, "smaller": {jumping, small}} {
		event := &pb.Event{GameId: tuitest.GameID, Version: 1000, Position: games[1].GetPosition()}
		whole := translate.Game(tuitest.Tribolo(t, tuitest.GameID, 9, adaAndBots()...).State, 0)
		whole.Id, whole.Version, whole.Position = tuitest.GameID, 1000, games[1].GetPosition()
		for i, deliver := range []func(p *page) tea.Cmd{
			func(p *page) tea.Cmd { return receive(p, client.Update{Event: event}) },
			func(p *page) tea.Cmd { return receive(p, client.Update{Game: whole}) },
			func(p *page) tea.Cmd { return p.answered(reply{request: &request{}, event: event}, nil) },
			func(p *page) tea.Cmd {
				return p.answered(reply{request: &request{}, game: client.Game{Game: whole}}, nil)
			},
			func(p *page) tea.Cmd { return p.fetched(client.Game{Game: whole}, nil) },
			func(p *page) tea.Cmd { return p.resigned(true, event, nil) },
		} {
			p := New(t.Context(), tuitest.Env(&tuitest.Server{}), games[0]).(*page)
			before := p.Game.GetVersion()
			p.Continue(func() tea.Cmd { return deliver(p) })
			ui.Press(p, tuitest.Key("left"))
			assert.NotEmpty(t, p.View(78, 20).Body)
			assert.Equal(t, before, p.Game.GetVersion(), "%s, message %d", name, i)
			p.Own().Stop()
		}
	}
}
