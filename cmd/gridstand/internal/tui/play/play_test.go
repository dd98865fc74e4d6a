package play

import (
	"context"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	"google.golang.org/grpc/codes"

	"github.com/gridstand/gridstand/client"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/gamestate"
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
	assert.EqualValues(t, 614, second.version)
	assert.Equal(t, client.Slide(right), second.move, "left was illegal")
	refused := p.inFlight
	second.answer <- answer{err: client.FromError(&client.Error{Reason: pb.ReasonIllegalMove, Message: "nothing would move"})}
	d.Until("the refusal", func() bool { return p.inFlight != refused })

	third := take(t, calls)
	assert.EqualValues(t, 614, third.version)
	assert.Equal(t, client.Slide(up), third.move)
	third.answer <- answer{event: tuitest.Moved(615, up, tuitest.Board(4, 4), 12348)}
	d.Until("the last reply", func() bool { return p.inFlight == nil })
	assert.Empty(t, p.queue)
	assert.Empty(t, p.problem)
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
	d.Press("up")
	assert.Contains(t, d.Screen(), "No answer for 3 s; queued keys: 1.")
	p.inFlight.since = tuitest.Noon
	for range queueLimit - 1 {
		d.Press("up")
	}
	assert.False(t, p.dropped)
	d.Press("up")
	assert.Len(t, p.queue, queueLimit)
	assert.Contains(t, d.Screen(), "dropped")
}

// Ensure that the page explains why it cannot reach a server, until it does.
func TestServerStopped(t *testing.T) {
	t.Parallel()
	p, d := newPlay(t, &tuitest.Server{})
	unreachable := &client.Error{Code: codes.Unavailable, Message: "connection refused"}
	for _, step := range []struct {
		state client.ConnectionState
		err   *client.Error
		says  string
	}{
		{client.Reconnecting, unreachable, ""},
		{client.Reconnecting, &client.Error{Code: codes.Unavailable, Cause: client.CauseNoTLS}, "The server answers, but without TLS. Retrying …"},
		{client.Reconnecting, &client.Error{Code: codes.Unavailable, Reason: pb.ReasonServerUnavailable, Message: "this server is stopping"}, ""},
		{client.Reconnecting, unreachable, "The server has stopped. Retrying …"}, // no other server has answered
		{client.Live, nil, ""},
	} {
		p.Continue(tuitest.Result(p.updated, client.Update{Connection: client.Connection{State: step.state, Err: step.err}}, nil))
		assert.Contains(t, d.Screen(), step.says)
		assert.Equal(t, step.says != "", strings.Contains(d.Screen(), "Retrying"), "%v", step)
	}
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
	watch := tuitest.NewStream()
	s.Streams = map[string]*tuitest.Stream{tuitest.GameID: watch}
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
	d.Until("the marks to disappear", func() bool { return p.Marks.Spawned < 0 })

	watch.Push(client.Update{Event: tuitest.Moved(615, right, tuitest.Board(4, 4), 12348)})
	d.Until("another client's move", func() bool { return p.Game.GetVersion() == 615 })
	old := tuitest.Game(tuitest.Board(4, 4))
	old.Version, old.Watchers = 614, 9
	watch.Push(client.Update{Game: old, Skipped: 3})
	d.Until("an old snapshot", func() bool { return p.Game.GetWatchers() == 9 })
	assert.EqualValues(t, 615, p.Game.GetVersion())
	assert.Contains(t, d.Screen(), "skipped 3")
	watch.Push(client.Update{Connection: client.Connection{State: client.Reconnecting, Delay: 2 * time.Second}})
	d.Until("the loss", func() bool { return strings.Contains(d.Screen(), "reconnecting") })
	assert.Contains(t, d.Screen(), "reconnecting (2 s)")
}

// Ensure that after the end of a game the page waits until the result is recorded, that its keys open
// the replay, the rules and a new game without confirmation, and that no key makes a move.
func TestEndAndNext(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, calls := asked()
		looks := 0
		recorded := ui.Place{Rank: 2, Total: 9, Score: 12340, GameID: tuitest.GameID}
		s.OnPlace = func(w pb.Window) (ui.Place, error) {
			if w == pb.Window_WINDOW_DAY {
				looks++ // count each request once, not once per leaderboard
			}
			if looks < 3 { // the first request is from Init
				return ui.Place{Total: 8}, nil
			}
			return recorded, nil
		}
		s.OnNewGame = newGame
		p, d := newPlay(t, s)
		d.Until("the places", func() bool { return p.places.day != nil })
		d.Press("up", "left", "left")
		take(t, calls).answer <- answer{event: tuitest.Ended(614, pb.Result_REASON_NO_MOVES)}
		d.Until("the end", p.Over)
		assert.Empty(t, p.queue, "no moves are queued after the end")
		assert.Nil(t, p.places.day)
		d.Until("the rank", func() bool { return p.places.day != nil })
		assert.Equal(t, &recorded, p.places.day)
		for _, text := range []string{"No moves left", "#2 of 9 today", "#2 of 9 all time"} {
			assert.Contains(t, d.Screen(), text)
		}
		assert.Equal(t, "ada ended a classic game with 12,340 points (best tile 1024, 613 moves), #2 of 9 today, "+
			"#2 of 9 all time.\nVerify it with gridstand verify kx3fq2ab", p.ClosingMessage())

		d.Press("up") // the arrow keys no longer make moves
		assert.Nil(t, p.inFlight)
		assert.Contains(t, d.Screen(), "esc close")
		d.Press("esc", "w") // w does not open the replay yet: it may still be meant as a move
		assert.NotContains(t, d.Screen(), "No moves left")
		assert.Contains(t, d.Screen(), "esc result")
		d.Env.Clock = func() time.Time { return tuitest.Noon.Add(endTime) }
		d.Press("w", "r")
		d.Until("the replay and the rules", func() bool { return len(d.Left) > 1 })
		assert.ElementsMatch(t, []tea.Msg{
			ui.OpenMsg{Route: ui.Route{Replay: tuitest.GameID}}, ui.OpenMsg{Route: ui.Route{Rules: "classic"}},
		}, d.Left)
		d.Press("n")
		assert.Nil(t, p.Question)
		p = next(t, d)
		assert.False(t, p.Over())
		assert.Equal(t, &recorded, p.places.all)
		assert.Contains(t, tuitest.Drive(t, d.Env, p).Screen(), "ended with 12,340 points")
	})
}

// next waits until the page is replaced by that of another game, which it returns.
func next(t *testing.T, d *tuitest.Driver) *page {
	t.Helper()
	var to ui.ReplaceMsg
	d.Until("the new game", func() bool {
		for _, msg := range d.Left {
			to, _ = msg.(ui.ReplaceMsg)
		}
		return to.Route.Page != nil
	})
	p := to.Route.Page(t.Context()).(*page)
	assert.NotEqual(t, tuitest.GameID, p.Game.GetId())
	return p
}

// newGame creates a game of 2048 on the test server.
func newGame(string, client.GameOptions) (*pb.Game, error) {
	g := tuitest.Game(tuitest.Board(4, 4))
	g.Id = "zzzzzzzzzzzzzzzzzzzzzzzzzz"
	return g, nil
}

// Ensure that n resigns the current game only after a confirmation, and that Enter does not
// confirm.
func TestNewGame_Asks(t *testing.T) {
	t.Parallel()
	s, _ := asked()
	resigned := false
	s.OnResign = func() (*pb.Event, error) {
		resigned = true
		return tuitest.Ended(614, pb.Result_REASON_RESIGNED), nil
	}
	s.OnNewGame = newGame
	p, d := newPlay(t, s)
	d.Press("S")
	require.NotNil(t, p.Question)
	assert.Contains(t, d.Screen(), "y give up, new game")
	assert.Contains(t, d.Screen(), "Its 12,340 points count.")
	d.Press("up", "x", "enter", "space") // neither yes nor no
	require.NotNil(t, p.Question)
	assert.Nil(t, p.inFlight)
	d.Press("n")
	require.Nil(t, p.Question)
	d.Press("n", "esc", "n", "y")
	assert.False(t, next(t, d).starting)
	assert.True(t, resigned)
}

// Ensure that the page shows errors and stays usable after them.
func TestRefusals(t *testing.T) {
	t.Parallel()
	s, calls := asked()
	noSeat := &client.Error{Reason: pb.ReasonNotSeated, Message: "no seat"}
	s.OnResign = func() (*pb.Event, error) { return nil, noSeat }
	s.OnNewGame = func(string, client.GameOptions) (*pb.Game, error) {
		return nil, &client.Error{Reason: pb.ReasonTooManyGames, Message: "too many games"}
	}
	p, d := newPlay(t, s)
	d.Press("up", "up")
	take(t, calls).answer <- answer{err: noSeat}
	d.Until("the refusal", func() bool { return p.problem != "" })
	assert.Contains(t, d.Screen(), "no seat")
	assert.Empty(t, p.queue)
	d.Press("n", "y")
	d.Until("the second refusal", func() bool { return p.problem == "too many games" })
	assert.False(t, p.starting)
	d.Send(tuitest.Result(p.updated, client.Update{}, &client.Error{Reason: pb.ReasonBadToken}))
	assert.Contains(t, d.Screen(), "no longer has")
	assert.NotContains(t, p.ClosingMessage(), "Resume")
	assert.Contains(t, d.Screen(), "ended")
}

// Ensure that q asks for confirmation only if the game would be lost, and that the closing message says
// how to resume the game.
func TestLeave(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		local *ui.Local
		over  bool
		asks  bool
		last  string // the end of the closing message
	}{
		"server":               {last: "left a classic game at 12,340 points (best tile 1024, 612 moves).\nResume it with gridstand play kx3fq2ab"},
		"local, kept":          {local: &ui.Local{Resume: "gridstand play --local"}, last: "Resume it with gridstand play --local kx3fq2ab"},
		"local, lost":          {local: &ui.Local{}, asks: true, last: "612 moves)."},
		"local, lost and over": {local: &ui.Local{}, over: true, last: "613 moves)."},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, d := newPlay(t, &tuitest.Server{})
			d.Env.Local = c.local
			if c.over {
				p.Apply(tuitest.Ended(614, pb.Result_REASON_NO_MOVES))
			}
			d.Press("q")
			if c.asks {
				assert.Contains(t, d.Screen(), "You cannot resume it")
				d.Press("enter", "n")
				assert.Nil(t, p.Question)
				d.Press("q", "y")
			}
			d.Until("the end", func() bool { return len(d.Left) > 0 })
			assert.Equal(t, []tea.Msg{ui.BackMsg{}}, d.Left)
			assert.Regexp(t, regexp.QuoteMeta(c.last)+"$", p.ClosingMessage())
		})
	}
}

// Ensure that a game on a server with a public address has a web link, which is shown only if it fits on
// one line, that y copies it, and otherwise the id, and that the command for watchers has the full id of
// a private game.
func TestInvitation(t *testing.T) {
	t.Parallel()
	p, d := newPlay(t, &tuitest.Server{})
	assert.Equal(t, tea.SetClipboard(tuitest.GameID)(), p.Key(tuitest.Key("y"))())
	d.Press("x")
	p.Game.Private = true
	assert.Contains(t, d.Screen(), tuitest.GameID)
	d.Env.Site = "http://192.168.100.200:2048"
	link := d.Env.Site + "/g/" + tuitest.GameID
	assert.Contains(t, d.Screen(), "\n In a browser: "+link)
	d.Env.Width = 60
	assert.Contains(t, d.Screen(), "\n "+link)
	d.Env.Width = 50
	assert.NotContains(t, d.Screen(), "http")
	assert.Equal(t, tea.SetClipboard(link)(), p.Key(tuitest.Key("y"))())
	assert.Contains(t, d.Screen(), "Copied the link of the game.")
}

// Ensure that a player without a score sees how to play until they have moved, also in the daily game,
// which the lobby offers first.
func TestIntro(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		side  int
		rank  int32
		moves int32
		daily bool
		hint  string
	}{
		"first game": {side: 4, hint: "Build a 2048"}, "small board": {side: 3, hint: "Score points; r shows the rules."},
		"after two moves": {side: 4, moves: 2},
		"daily":           {side: 4, daily: true, hint: "Two equal tiles"}, "another daily": {side: 4, daily: true, rank: 3},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := &tuitest.Server{OnPlace: func(pb.Window) (ui.Place, error) { return ui.Place{Rank: tt.rank, Total: 9}, nil }}
			g := tuitest.Game(tuitest.Board(tt.side, tt.side))
			g.Position.MoveCount = tt.moves
			p, d := start(t, tuitest.Env(s), g)
			if tt.daily {
				p, d = startAttempt(t, s, tuitest.DailyGame(), &pb.Attempt{})
				p.Game.Position.MoveCount = tt.moves
			} else {
				assert.NotContains(t, d.Screen(), "Two equal tiles", "the place is unknown")
			}
			d.Until("the places", func() bool { return p.places.all != nil })
			assert.Contains(t, d.Screen(), tt.hint)
			assert.Equal(t, tt.hint != "", strings.Contains(d.Screen(), "Two equal tiles"))
		})
	}
}

// Ensure that moves are animated, except on a slow connection, without colors, with queued
// moves, or if the user turned animations off.
func TestMotion(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		set   func(d *tuitest.Driver, p *page)
		moves bool
	}{
		"fast":      {moves: true},
		"still":     {set: func(d *tuitest.Driver, _ *page) { d.Env.Theme.Still = true }},
		"no colors": {set: func(d *tuitest.Driver, _ *page) { d.Env.Theme.Profile = colorprofile.ASCII }},
		"slow":      {set: func(_ *tuitest.Driver, p *page) { p.inFlight.since = tuitest.Noon.Add(-300 * time.Millisecond) }},
		"queued":    {set: func(d *tuitest.Driver, _ *page) { d.Press("left") }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, calls := asked()
			p, d := newPlay(t, s)
			d.Env.Theme.Still = false
			d.Press("up")
			if c.set != nil {
				c.set(d, p)
			}
			take(t, calls).answer <- answer{event: tuitest.Moved(614, up, tuitest.Board(4, 4), 12344)}
			d.Until("the move", func() bool { return p.Game.GetVersion() == 614 })
			assert.Equal(t, c.moves, p.Motion.Progress() < 1)
			d.Until("the end of the motion", func() bool { return p.Motion.Progress() >= 1 })
		})
	}
}

// Ensure that a result is awaited only as long as a leaderboard may still list it.
func TestPlaces_Have(t *testing.T) {
	t.Parallel()
	here, before := &ui.Place{Rank: 1, Total: 3, Score: 12, GameID: "this"}, &ui.Place{}
	for name, tt := range map[string]struct {
		places   places
		unranked bool
		score    int32
		reason   pb.Result_Reason
		tribolo  bool
		want     bool
	}{
		"listed":                      {places: places{here, here}, score: 12, want: true},
		"not listed yet":              {places: places{here, before}, score: 12},
		"a better score is listed":    {places: places{here, here}, score: 11, want: true},
		"unranked":                    {places: places{before, before}, unranked: true, score: 12, want: true},
		"no points":                   {places: places{before, before}, want: true},
		"resigned":                    {places: places{before, before}, score: 12, reason: pb.Result_REASON_RESIGNED},
		"Tribolo, played to the end":  {places: places{before, before}, score: 12, tribolo: true, reason: pb.Result_REASON_NO_MOVES},
		"Tribolo, a player timed out": {places: places{before, before}, score: 12, tribolo: true, reason: pb.Result_REASON_TIMED_OUT, want: true},
	} {
		g := &pb.Game{Id: "this", Status: pb.GameStatus_GAME_STATUS_FINISHED, Ranked: !tt.unranked, Result: &pb.Result{Reason: tt.reason}, Position: &pb.Position{}}
		if tt.tribolo {
			g.Position.Board = &pb.Position_Tribolo{Tribolo: &pb.TriboloBoard{}}
		}
		s := &gamestate.State{Game: client.Game{Game: g}}
		assert.Equal(t, tt.want, tt.places.have(s, tt.score), name)
	}
}

// Ensure that the page of a game that is resumed lists its last moves, each one once.
func TestResume_Log(t *testing.T) {
	t.Parallel()
	g := tuitest.Game(tuitest.Board(4, 4))
	s := &tuitest.Server{}
	for version := g.GetVersion() - 2*gamestate.LogLimit; version <= g.GetVersion(); version++ {
		e := tuitest.Moved(version, left, tuitest.Board(4, 4), 12340)
		s.Past = append(s.Past, e, e)
	}
	p, d := start(t, tuitest.Env(s), g)
	d.Until("the moves", func() bool { return len(p.Log) == gamestate.LogLimit })
	for i, entry := range p.Log {
		assert.Equal(t, gamestate.Entry{Version: g.GetVersion() - int32(i), Move: g.GetVersion() - int32(i) - 1, What: "←", Gained: 4}, entry)
	}
	assert.Contains(t, d.Screen(), "612  ←      +4")
	assert.Contains(t, d.Screen(), "12,340", "the position is still the newest")
}
