package play

import (
	"cmp"
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	"google.golang.org/grpc/codes"

	"github.com/gridstand/gridstand/client"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/tuitest"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/ui"
	waittest "github.com/gridstand/gridstand/internal/testkit/wait"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	up    = pb.Direction_DIRECTION_UP
	down  = pb.Direction_DIRECTION_DOWN
	left  = pb.Direction_DIRECTION_LEFT
	right = pb.Direction_DIRECTION_RIGHT
)

// call is a move that reached the server. The test sends the reply on answer.
type call struct {
	version int32
	move    client.Move
	answer  chan<- answer
}

type answer struct {
	event *pb.Event
	err   error
}

// asked returns a server that passes every move to the test, which receives it from the
// channel.
func asked() (*tuitest.Server, <-chan call) {
	calls := make(chan call)
	return &tuitest.Server{OnMove: func(ctx context.Context, version int32, m client.Move, _ bool) (*pb.Event, error) {
		reply := make(chan answer, 1)
		select {
		case calls <- call{version, m, reply}:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		select {
		case a := <-reply:
			return a.event, a.err
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}}, calls
}

// take waits for the next move.
func take(t *testing.T, calls <-chan call) call {
	t.Helper()
	return waittest.Receive(t, "the move", calls)
}

// start opens the page of a game.
func start(t *testing.T, env *ui.Env, g *pb.Game) (*page, *tuitest.Driver) {
	t.Helper()
	p := New(t.Context(), env, g).(*page)
	return p, tuitest.Drive(t, env, p)
}

// fails ends the stream of the page's game with an error.
func fails(d *tuitest.Driver, p *page, s *tuitest.Server, err error) {
	s.End = err
	close(s.Stream(tuitest.GameID))
	d.Until("the end of the stream", func() bool { return p.Err != nil })
}

// newPlay opens a game of 2048.
func newPlay(t *testing.T, s *tuitest.Server) (*page, *tuitest.Driver) {
	t.Helper()
	return start(t, tuitest.Env(s), tuitest.Game(tuitest.Board(4, 4)))
}

// Ensure that keys typed ahead of a slow server are not lost, that each move is sent with
// the version that resulted from the previous move, and that moves that have become illegal
// are skipped.
func TestKeysQueue(t *testing.T) {
	t.Parallel()
	s, calls := asked()
	p, d := newPlay(t, s)
	d.Press("up", "a", "l", "s", "k") // k also means up
	assert.Len(t, p.queue, 4)

	first := take(t, calls)
	assert.Equal(t, call{613, client.Slide(up), first.answer}, first)
	board := tuitest.Board(4, 4)
	board.LegalMoves = []pb.Direction{right, up} // now left and down are illegal
	first.answer <- answer{event: tuitest.Moved(614, up, board, 12344)}
	d.Until("the reply", func() bool { return p.Game.GetVersion() == 614 })
	assert.EqualValues(t, 12344, p.Score())
	assert.Equal(t, "+4", p.Gain())

	second := take(t, calls)
	require.EqualValues(t, 614, second.version)
	require.Equal(t, client.Slide(right), second.move, "left was illegal")
	refused := p.inFlight
	second.answer <- answer{err: client.FromError(&client.Error{Reason: pb.ReasonIllegalMove, Message: "nothing would move"})}
	d.Until("the refusal", func() bool { return p.inFlight != refused })

	third := take(t, calls)
	require.EqualValues(t, 614, third.version)
	require.Equal(t, client.Slide(up), third.move)
	third.answer <- answer{event: tuitest.Moved(615, up, tuitest.Board(4, 4), 12348)}
	d.Until("the last reply", func() bool { return p.inFlight == nil })
	assert.Empty(t, p.queue)
	assert.Empty(t, p.Notice)
}

// Ensure that keys neither move nor end a game whose board the window is too small to show.
func TestKeys_WindowTooSmall(t *testing.T) {
	t.Parallel()
	for _, open := range []func(*testing.T, *tuitest.Server) (*page, *tuitest.Driver){newPlay, newTribolo} {
		p, d := open(t, &tuitest.Server{})
		d.Env.Width, d.Env.Height = 16, 6
		require.Contains(t, d.Screen(), "too small")
		d.Press("up", "left", "tab", "enter", "u", "n", "S", "X")
		assert.Empty(t, p.queue)
		assert.Nil(t, p.inFlight)
		assert.Nil(t, p.Dialog)
		assert.Nil(t, p.solving)
		d.Env.Width, d.Env.Height = 80, 24
		d.Press("n")
		assert.NotNil(t, p.Dialog)
	}
}

// Ensure that a link that is wider than the panel breaks before the game's id.
func TestInvitation_Narrow(t *testing.T) {
	t.Parallel()
	p, d := newPlay(t, &tuitest.Server{})
	d.Env.Site = "https://play.example"
	assert.Regexp(t, `https://play.example/g/ *\n.* `+p.Game.GetId()+` *\n`, d.Screen())
	d.Env.Site = "https://gridstand.games.example-company.org" // which leaves no room for another line
	assert.Regexp(t, `https://gridstand.games.example-company.or *\n.* g/g/`+p.Game.GetId()+` *\n`, d.Screen())
}

// Ensure that an invitation says, in a narrow panel, too, that it leads only to the user's own machine, and
// that without a link the user copies the command that the panel shows.
func TestInvitation_Loopback(t *testing.T) {
	t.Parallel()
	_, d := newPlay(t, &tuitest.Server{})
	d.Env.Site, d.Env.Width, d.Env.Height = "http://localhost:2048", 64, 24
	assert.Regexp(t, `Others on this machine *\n.*watch at *\n`, d.Screen())
	d.Env.Site, d.Env.Width = "", 80
	d.Press("y").Shows("clipboard: gridstand watch @ada")
}

// Ensure that the page shows how long a reply has been missing and the number of queued keys, and
// reports dropped keys once the queue is full.
func TestQueue_Bounded(t *testing.T) {
	t.Parallel()
	s, calls := asked()
	p, d := newPlay(t, s)
	d.Press("up")
	take(t, calls)
	p.inFlight.since = tuitest.Noon.Add(-3 * time.Second)
	assert.Contains(t, d.Screen(), "No answer for 3 s.")
	d.Press("up").Shows("No answer for 3 s; queued keys: 1.")
	p.inFlight.since = tuitest.Noon
	for range queueLimit - 2 {
		d.Press("up")
	}
	assert.NotContains(t, d.Screen(), "dropped")
	d.Press("up", "up")
	assert.Len(t, p.queue, queueLimit)
	assert.Contains(t, d.Screen(), "dropped")
}

// Ensure that the page explains why it cannot reach a server, until it does, but not while the connection moves
// to another server.
func TestUnreachable(t *testing.T) {
	t.Parallel()
	s := &tuitest.Server{}
	p, d := newPlay(t, s)
	unreachable := &client.Error{Code: codes.Unavailable, Message: "connection refused"}
	stopping := &client.Error{Code: codes.Unavailable, Reason: pb.ReasonServerUnavailable, Message: "this server is stopping"}
	for _, step := range []struct {
		state   client.ConnectionState
		attempt int
		err     *client.Error
		says    string
	}{
		{client.Reconnecting, 1, stopping, ""},
		{client.Reconnecting, 2, unreachable, ""},
		{client.Reconnecting, 3, unreachable, "The server does not answer. It may have ended; q leaves. Retrying …"},
		{client.Live, 0, nil, ""},
	} {
		connection := client.Connection{State: step.state, Attempt: step.attempt, Err: step.err}
		p.State.Update(client.Update{Connection: connection})
		assert.Contains(t, d.Screen(), step.says)
		assert.Equal(t, step.says != "", strings.Contains(d.Screen(), "Retrying"), "%v", step)
	}
	fails(d, p, s, unreachable)
	d.Press("x") // does not hide it
	assert.Contains(t, d.Screen(), "Open it again to retry.")
	finish(p, pb.Result_REASON_NO_MOVES)
	assert.NotContains(t, d.Screen(), "Open it again to retry.", "nothing is missing")
}

// Ensure that after a version conflict with another client of the same player, the page
// fetches the board and makes the move there.
func TestConflict(t *testing.T) {
	t.Parallel()
	s, calls := asked()
	s.OnGame = func() (*pb.Game, error) {
		g := tuitest.Game(tuitest.Board(4, 4))
		g.Version = 620
		g.Position.Scores = []int32{20000}
		return g, nil
	}
	p, d := newPlay(t, s)
	d.Press("left", "down")
	take(t, calls).answer <- answer{err: &client.Error{Reason: pb.ReasonVersionConflict}}
	d.Until("the board", func() bool { return p.Game.GetVersion() == 620 })
	again := take(t, calls)
	assert.EqualValues(t, 620, again.version)
	assert.Equal(t, client.Slide(left), again.move, "the move that met the conflict is not lost")
	again.answer <- answer{event: tuitest.Moved(621, left, tuitest.Board(4, 4), 20004)}
	d.Until("the reply", func() bool { return p.Game.GetVersion() == 621 })
	assert.Equal(t, client.Slide(down), take(t, calls).move)
}

// Ensure that the higher version wins, whether it comes from the stream or from a reply.
func TestStreamAndReplies(t *testing.T) {
	t.Parallel()
	s, calls := asked()
	watch := s.Stream(tuitest.GameID)
	p, d := newPlay(t, s)
	d.Press("left")
	mine := take(t, calls)

	watch.Push(client.Update{Event: tuitest.Moved(614, left, tuitest.Board(4, 4), 12344)})
	d.Until("the event", func() bool { return p.Game.GetVersion() == 614 })
	assert.Len(t, p.Log, 1)
	assert.Equal(t, 0, p.Marks.Spawned)
	mine.answer <- answer{event: tuitest.Moved(614, left, tuitest.Board(4, 4), 12344)}
	d.Until("the reply", func() bool { return p.inFlight == nil })
	assert.Len(t, p.Log, 1, "the same event counts once")

	watch.Push(client.Update{Event: tuitest.Moved(615, right, tuitest.Board(4, 4), 12348)})
	d.Until("another client's move", func() bool { return p.Game.GetVersion() == 615 })
	old := tuitest.Game(tuitest.Board(4, 4))
	old.Version, old.Watchers = 614, 9
	watch.Push(client.Update{Game: old})
	d.Until("an old snapshot", func() bool { return p.Game.GetWatchers() == 9 })
	assert.EqualValues(t, 615, p.Game.GetVersion())
	watch.Push(client.Update{Connection: client.Connection{State: client.Reconnecting, Delay: 2 * time.Second}})
	d.Until("the loss", func() bool { return strings.Contains(d.Screen(), "reconnecting") })
}

// Ensure that after the end of a game the page waits until the result is recorded, that its keys open
// the replay, the rules and a new game without confirmation, and that no key makes a move.
func TestEndAndNext(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, calls := asked()
		looks := 0
		recorded := ui.Place{Entry: &pb.Entry{Rank: 2, Score: 12340, GameId: tuitest.GameID}, Total: 9}
		s.OnPlace = func(w pb.Window) (ui.Place, error) {
			if w == pb.Window_WINDOW_DAY {
				looks++ // count each request once, not once per leaderboard
			}
			switch {
			case looks == 1:
				return ui.Place{}, client.ErrUnreachable
			case looks < 12: // the first two requests are from Init
				return ui.Place{Total: 8}, nil
			}
			return recorded, nil
		}
		p, d := newPlay(t, s)
		d.Until("the places", func() bool { return p.places.day != nil })
		d.Press("up", "left", "left")
		take(t, calls).answer <- answer{event: tuitest.Ended(614, pb.Result_REASON_NO_MOVES)}
		d.Until("the end", p.Over)
		assert.Empty(t, p.queue, "no moves are queued after the end")
		assert.Nil(t, p.places.day)
		d.Until("the rank", func() bool { return p.places.day != nil })
		assert.Equal(t, &recorded, p.places.day)
		for _, text := range []string{"Game over: no moves left", "#2 of 9 today", "#2 of 9 all time"} {
			assert.Contains(t, d.Screen(), text)
		}
		assert.Equal(t, "classic by ada: 12,340 points, tile 1024, 613 moves.\nVerify it with gridstand verify kx3fq2ab", p.ClosingMessage())

		d.Press("up") // the arrow keys no longer make moves
		assert.Nil(t, p.inFlight)
		d.Press("w") // does not open the replay yet: it may still be meant as a move
		d.Env.Clock = func() time.Time { return tuitest.Noon.Add(endTime) }
		d.Press("w", "r", "esc")
		assert.ElementsMatch(t, []tea.Msg{
			ui.OpenMsg{Route: ui.Route{Watch: []string{tuitest.GameID}, Replay: true}},
			ui.OpenMsg{Route: ui.Route{Rules: "classic"}},
			ui.BackMsg{},
		}, []tea.Msg{d.Leave(), d.Leave(), d.Leave()})
		d.Press("n")
		assert.Nil(t, p.Dialog)
		assert.Equal(t, &ui.NewGame{Variant: "classic", After: p.Game.Game}, d.Leave().(ui.ReplaceMsg).Route.New)
	})
}

// Ensure that the page shows errors and stays usable after them, and gives up a game only after a
// confirmation.
func TestRefusals(t *testing.T) {
	t.Parallel()
	s, calls := asked()
	p, d := newPlay(t, s)
	d.Press("up", "up")
	take(t, calls).answer <- answer{err: &client.Error{Reason: pb.ReasonNotSeated, Message: "no seat"}}
	s.Stream(tuitest.GameID).Push(client.Update{Reactions: []int32{1}})
	d.Until("the reaction", func() bool { return strings.Contains(d.Screen(), "! no seat    ★ clap") })
	assert.Empty(t, p.queue)
	d.Press("S", "up", "x", " ") // neither yes nor no
	d.Shows("y give up, new game", "g give up", "Its 12,340 points count.")
	s.Stream(tuitest.GameID).Push(client.Update{Event: tuitest.Moved(614, pb.Direction_DIRECTION_LEFT, tuitest.Board(4, 4), 12344)})
	d.Until("the points of a queued move", func() bool { return strings.Contains(d.Screen(), "Its 12,344 points count.") })
	d.Press("esc")
	assert.Nil(t, p.Dialog)
	s.OnResign = func() (*pb.Event, error) { return tuitest.Ended(615, pb.Result_REASON_RESIGNED), nil }
	d.Press("n", "g")
	help := ui.NewHelp(p.Keys, false)
	p.Ask(help)
	d.Until("the result", p.Over)
	assert.Equal(t, help, p.Dialog, "the user reads it")
	d.Press("x").Shows("w replay")
}

// Ensure that a new game follows one in which the user no longer has a seat, and that the page says
// that the server no longer accepts the user's token.
func TestRefusals_Gone(t *testing.T) {
	t.Parallel()
	s := &tuitest.Server{OnResign: func() (*pb.Event, error) { return nil, &client.Error{Reason: pb.ReasonNotSeated} }}
	p, d := newPlay(t, s)
	d.Press("n", "y")
	assert.Equal(t, "classic", d.Leave().(ui.ReplaceMsg).Route.New.Variant)
	fails(d, p, s, &client.Error{Reason: pb.ReasonBadToken})
	assert.Contains(t, d.Screen(), "no longer accepts")
	assert.NotContains(t, p.ClosingMessage(), "Resume")
	d.Press("x")
	assert.Contains(t, d.Screen(), "no longer accepts", "as long as it is true")
	assert.Contains(t, d.Screen(), "ended")
}

// Ensure that q leaves a game that is not a race at once, and that the closing message says how to resume
// the game.
func TestLeave(t *testing.T) {
	t.Parallel()
	p, d := newPlay(t, &tuitest.Server{})
	d.Press("q")
	assert.Equal(t, ui.BackMsg{}, d.Leave())
	assert.Equal(t, "classic by ada: 12,340 points, tile 1024, 612 moves.\nResume it with gridstand play kx3fq2ab", p.ClosingMessage())
	race := someRace(t, tuitest.Env(&tuitest.Server{}))
	assert.Contains(t, race.ClosingMessage(), "\nSee the ranking with gridstand top "+race.contest.ID)
}

// Ensure that a good result asks a guest for a name, once, that e opens the page for it after any
// result.
func TestGuest_Asked(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		named   bool // whether the user has chosen a name, so that e does nothing
		asked   bool // whether an earlier result has asked
		byBot   bool // whether a bot made moves
		tile    int32
		record  int32 // the best score of earlier games
		attempt *pb.Challenge
		rank    int32 // of nine, unless of says how many
		of      int32
		reason  pb.Result_Reason // no moves left, unless it is set
		none    bool             // whether the user has no points
		want    bool
	}{
		"large tile":    {tile: 512, want: true},
		"by a solver":   {byBot: true, tile: 512},
		"small tile":    {tile: 256},
		"new best":      {tile: 256, record: 12000, want: true},
		"not the best":  {tile: 256, record: 20000},
		"asked already": {asked: true, tile: 512},
		"named player":  {named: true, tile: 512},
		"daily, third":  {tile: 256, attempt: tuitest.DailyGame(), rank: 3, want: true},
		"daily, fourth": {tile: 256, attempt: tuitest.DailyGame(), rank: 4},
		"daily, last":   {tile: 256, attempt: tuitest.DailyGame(), rank: 2, of: 2},
		"daily, alone":  {tile: 256, attempt: tuitest.DailyGame(), rank: 1, of: 1, want: true},
		"race, second":  {tile: 256, attempt: tuitest.Race(), want: true},
		"no points":     {tile: 2, attempt: tuitest.Race(), none: true},
		"given up":      {tile: 512, attempt: tuitest.DailyGame(), rank: 1, reason: pb.Result_REASON_RESIGNED},
	} {
		env := tuitest.Env(nil)
		p := somePlay(t, env)
		if c.attempt != nil {
			p = someAttempt(t, env, c.attempt)
		}
		if c.rank > 0 {
			p.contest.Lines, p.contest.Total = []*pb.Standing{{Rank: c.rank, GameId: p.Game.GetId()}}, cmp.Or(c.of, 9)
		}
		env.NameAsked = c.asked
		if !c.named {
			p.Game.GetSeats()[0].GetPlayer().Name = "guest-k3xq7a"
		}
		p.Game.GetPosition().GetTwenty48().Tiles = []int32{c.tile, 2}
		p.Game.Ranked = !c.byBot
		p.SetRecord(c.record)
		p.Continue(func() tea.Cmd {
			finish(p, cmp.Or(c.reason, pb.Result_REASON_NO_MOVES))
			if c.none {
				p.Game.GetPosition().Scores = []int32{0}
			}
			return nil
		})
		p.Continue(func() tea.Cmd { return nil })
		screen := func() string { return ansi.Strip(ui.Draw(env, p, false).Content) }
		press := func() tea.Cmd { return ui.Press(p, tea.KeyPressMsg{Code: 'e', Text: "e"}) }
		const question = "Press e to choose a name"
		assert.Equal(t, c.want, strings.Contains(screen(), question), name)
		if !c.named {
			assert.Nil(t, press(), name)
			assert.Contains(t, screen(), "What should others call you?", name)
			p.Withdraw()
			env.NewName = "zoe"
		}
		assert.NotContains(t, screen(), question, name)
		assert.Nil(t, press(), name)
	}
}

// Ensure that a score above the best one of earlier games is celebrated once, and that no other one is.
func TestRecord(t *testing.T) {
	t.Parallel()
	for record, want := range map[int32]string{12340: "Your new best", 12343: "Your new best", 12344: "", 0: ""} {
		p := somePlay(t, tuitest.Env(nil))
		p.SetRecord(record)
		require.True(t, p.Apply(tuitest.Moved(614, pb.Direction_DIRECTION_LEFT, tuitest.Board(4, 4), 12344)))
		assert.Equal(t, want, p.Milestone, record)
		require.True(t, p.Apply(tuitest.Moved(615, pb.Direction_DIRECTION_LEFT, tuitest.Board(4, 4), 12344)))
		assert.Empty(t, p.Milestone, record)
		p.Own().Stop()
	}
}

// Ensure that a new player sees how to play if the window has a row for it, and in every window the scores and
// whose turn it is.
func TestIntro(t *testing.T) {
	t.Parallel()
	for _, size := range [][2]int{{30, 12}, {40, 12}, {50, 18}, {60, 20}, {80, 24}, {120, 40}} {
		env := tuitest.Env(nil)
		env.Width, env.Height = size[0], size[1]
		for p, want := range map[*page][]string{
			somePlay(t, env):    {"SCORE", "Arrows slide all tiles: two equal ones merge."},
			someTribolo(t, env): {"Your turn", "11", "18", "16", "Enter jumps: the cells on the way become yours."},
		} {
			p.Game.GetPosition().MoveCount = 1
			p.places = places{all: &ui.Place{}}
			screen := ansi.Strip(ui.Draw(env, p, false).Content)
			hint := want[len(want)-1]
			assert.Equal(t, size[1] >= ui.StatusHeight, strings.Contains(screen, hint), size)
			for _, text := range want[:len(want)-1] {
				assert.Contains(t, screen, text, size)
			}
		}
	}
}

// Ensure that narrow windows have room for the most important keys after a game.
func TestResult_Keys(t *testing.T) {
	t.Parallel()
	p := someTribolo(t, tuitest.Env(nil))
	defer p.Own().Stop()
	finish(p, pb.Result_REASON_NO_MOVES)
	for width, want := range map[int]string{36: "n new  c result  ? help", 46: "n new  c result  w replay  ? help"} {
		p.env.Width, p.env.Height = width, 12
		assert.Contains(t, ansi.Strip(ui.Draw(p.env, p, false).Content), want)
	}
}
