package tui

import (
	"context"
	"io"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/gridstand/gridstand/client"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
	"github.com/gridstand/gridstand/proto/translate"
)

const (
	up    = pb.Direction_DIRECTION_UP
	down  = pb.Direction_DIRECTION_DOWN
	left  = pb.Direction_DIRECTION_LEFT
	right = pb.Direction_DIRECTION_RIGHT
)

// call is a move that reached the server, which the test answers.
type call struct {
	version int32
	d       pb.Direction
	answer  chan<- answer
}

type answer struct {
	event *pb.Event
	err   error
}

// asked is a server that hands every move to the test.
func asked() (*script, <-chan call) {
	calls := make(chan call)
	return &script{slide: func(ctx context.Context, version int32, d pb.Direction) (*pb.Event, error) {
		reply := make(chan answer, 1)
		select {
		case calls <- call{version, d, reply}:
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
	select {
	case c := <-calls:
		return c
	case <-time.After(limit):
		require.Fail(t, "no move reached the server")
		return call{}
	}
}

func newPlay(t *testing.T, s *script) (*Play, *driver) {
	t.Helper()
	p := NewPlay(t.Context(), s, PlayConfig{Game: someGame(someBoard(4, 4)), Clock: atNoon})
	return p, drive(t, p)
}

// TestKeysQueue types ahead of a slow server: no key is lost, each is played at
// the version that the one before led to, and what has become illegal is
// passed over without a word.
func TestKeysQueue(t *testing.T) {
	t.Parallel()
	s, calls := asked()
	p, d := newPlay(t, s)
	d.press("up", "a", "l", "s", "k") // k is up again
	assert.Len(t, p.queue, 4)

	first := take(t, calls)
	assert.Equal(t, call{version: 613, d: up, answer: first.answer}, first)
	board := someBoard(4, 4)
	board.LegalMoves = []pb.Direction{right, up} // so left and down are not
	first.answer <- answer{event: movedEvent(614, up, board, 12344)}
	d.until("the reply", func() bool { return p.game.GetVersion() == 614 })
	assert.EqualValues(t, 12344, p.score())
	assert.Equal(t, "+4", p.gain())

	second := take(t, calls)
	assert.EqualValues(t, 614, second.version)
	assert.Equal(t, right, second.d, "left was illegal")
	second.answer <- answer{err: client.FromError(illegal)}
	d.until("the refusal", func() bool { return p.moving != right })

	third := take(t, calls)
	assert.EqualValues(t, 614, third.version)
	assert.Equal(t, up, third.d)
	third.answer <- answer{event: movedEvent(615, up, someBoard(4, 4), 12348)}
	d.until("the last reply", func() bool { return p.moving == none })
	assert.Empty(t, p.queue)
	assert.Empty(t, p.problem)
}

// illegal is the refusal of a move by the rules.
var illegal = &client.Error{Reason: pb.ReasonIllegalMove, Message: "nothing would move"}

// TestQueue_Bounded says so when it drops a key.
func TestQueue_Bounded(t *testing.T) {
	t.Parallel()
	s, calls := asked()
	p, d := newPlay(t, s)
	for range queueLimit + 1 {
		d.press("up")
	}
	assert.Len(t, p.queue, queueLimit)
	assert.False(t, p.dropped)
	d.press("up")
	assert.Len(t, p.queue, queueLimit)
	assert.Contains(t, p.state(), "dropped")
	take(t, calls)
}

// TestNoAnswer counts the queued keys, if there are any.
func TestNoAnswer(t *testing.T) {
	t.Parallel()
	p := somePlay(someGame(someBoard(4, 4)))
	defer p.stop()
	p.moving, p.movingSince = up, p.now.Add(-3*time.Second)
	assert.Equal(t, "No answer for 3 s.", p.state())
	p.queue = []pb.Direction{up}
	assert.Equal(t, "No answer for 3 s; queued keys: 1.", p.state())
}

// TestConflict moves while another client of the same player does: the board is
// fetched and the move made there.
func TestConflict(t *testing.T) {
	t.Parallel()
	s, calls := asked()
	s.game = func() (*pb.Game, error) {
		g := someGame(someBoard(4, 4))
		g.Version = 620
		g.Position.Scores = []int32{20000}
		return g, nil
	}
	p, d := newPlay(t, s)
	d.press("left", "down")
	take(t, calls).answer <- answer{err: &client.Error{Reason: pb.ReasonVersionConflict}}
	d.until("the board", func() bool { return p.game.GetVersion() == 620 })
	again := take(t, calls)
	assert.EqualValues(t, 620, again.version)
	assert.Equal(t, left, again.d, "the move that met the conflict is not lost")
	again.answer <- answer{event: movedEvent(621, left, someBoard(4, 4), 20004)}
	d.until("the reply", func() bool { return p.game.GetVersion() == 621 })
	assert.Equal(t, down, take(t, calls).d)
}

// TestPlay_StreamAndReplies lets the higher version win, from the stream or
// from a reply.
func TestPlay_StreamAndReplies(t *testing.T) {
	t.Parallel()
	s, calls := asked()
	watch := newStream()
	s.streams = map[string]*stream{gameID: watch}
	p, d := newPlay(t, s)
	p.theme.Profile = colorprofile.TrueColor
	d.press("left")
	mine := take(t, calls)

	watch.push(client.Update{Event: movedEvent(614, left, someBoard(4, 4), 12344)})
	d.until("the event", func() bool { return p.game.GetVersion() == 614 })
	assert.Len(t, p.log, 1)
	assert.Equal(t, 0, p.marks.spawned)
	mine.answer <- answer{event: movedEvent(614, left, someBoard(4, 4), 12344)}
	d.until("the reply", func() bool { return p.moving == none })
	assert.Len(t, p.log, 1, "the same event counts once")
	d.until("the marks to go", func() bool { return p.marks.spawned < 0 })

	watch.push(client.Update{Event: movedEvent(615, right, someBoard(4, 4), 12348)})
	d.until("another client's move", func() bool { return p.game.GetVersion() == 615 })
	old := someGame(someBoard(4, 4))
	old.Version, old.Watchers = 614, 9
	watch.push(client.Update{Game: old, Skipped: 3})
	d.until("an old picture", func() bool { return p.game.GetWatchers() == 9 })
	assert.EqualValues(t, 615, p.game.GetVersion())
	assert.Contains(t, p.badge(&p.base), "skipped 3")
	watch.push(client.Update{Connection: client.Connection{State: client.Reconnecting, Delay: 2 * time.Second}})
	d.until("the loss", func() bool { return p.connection.State == client.Reconnecting })
	assert.Contains(t, p.badge(&p.base), "reconnecting (2 s)")
}

// TestPlay_EndAndNext plays to the end, waits for the result to be recorded, and
// goes on with a new game without a question.
func TestPlay_EndAndNext(t *testing.T) {
	t.Parallel()
	s, calls := asked()
	looks := 0
	recorded := Place{Rank: 2, Total: 9, Score: 12340, GameID: gameID}
	s.place = func(w pb.Window) (Place, error) {
		if w == pb.Window_WINDOW_DAY {
			looks++ // one look at a time
		}
		if looks < 3 { // the first is that of the beginning
			return Place{Total: 8}, nil
		}
		return recorded, nil
	}
	s.create = func() (*pb.Game, error) {
		g := someGame(someBoard(4, 4))
		g.Id = "zzzzzzzzzzzzzzzzzzzzzzzzzz"
		return g, nil
	}
	watch := newStream()
	s.streams = map[string]*stream{gameID: watch}
	p, d := newPlay(t, s)
	d.until("the places", func() bool { return p.day != nil })
	d.press("up", "left", "left")
	take(t, calls).answer <- answer{event: lastEvent(614, pb.Result_REASON_NO_MOVES)}
	d.until("the end", p.over)
	assert.Empty(t, p.queue, "nothing is played after the end")
	assert.Nil(t, p.day)
	watch.push(client.Update{Event: lastEvent(614, pb.Result_REASON_NO_MOVES)})
	watch.end()
	d.until("the rank", func() bool { return p.day != nil })
	assert.Equal(t, &recorded, p.day)
	assert.Contains(t, p.View().Content, "#2 of 9 today")
	assert.Equal(t, "ada ended a classic game with 12,340 points (best tile 1024, 613 moves), #2 of 9 today, "+
		"#2 of 9 all time. Verify it with gridstand verify "+gameID, p.Farewell())

	d.press("up") // not a move any more
	assert.Equal(t, none, p.moving)
	d.press("n")
	assert.Equal(t, noQuestion, p.question)
	d.until("the new game", func() bool { return p.opened.GetId() != gameID })
	assert.False(t, p.over())
	assert.Contains(t, p.state(), "12,340 points")
	d.send(movedMsg{gameID: gameID, err: io.ErrUnexpectedEOF}) // late news of the old one
	assert.Empty(t, p.problem)
}

// TestPlay_NewGameAsks ends the running game by resigning, after a question.
func TestPlay_NewGameAsks(t *testing.T) {
	t.Parallel()
	s, _ := asked()
	resigned := false
	s.resign = func() (*pb.Event, error) {
		resigned = true
		return lastEvent(614, pb.Result_REASON_RESIGNED), nil
	}
	s.create = func() (*pb.Game, error) {
		g := someGame(someBoard(4, 4))
		g.Id = "zzzzzzzzzzzzzzzzzzzzzzzzzz"
		return g, nil
	}
	p, d := newPlay(t, s)
	d.press("S")
	require.Equal(t, askNew, p.question)
	d.press("up", "x") // neither yes nor no
	require.Equal(t, askNew, p.question)
	assert.Equal(t, none, p.moving)
	d.press("n")
	require.Equal(t, noQuestion, p.question)
	d.press("n", "esc", "n", "y")
	d.until("the new game", func() bool { return p.opened.GetId() != gameID })
	assert.True(t, resigned)
	assert.False(t, p.starting)
}

// TestRefusals shows what cannot be helped, and goes on where it can.
func TestRefusals(t *testing.T) {
	t.Parallel()
	s, calls := asked()
	s.resign = func() (*pb.Event, error) { return nil, &client.Error{Reason: pb.ReasonNotSeated, Message: "no seat"} }
	s.create = func() (*pb.Game, error) {
		return nil, &client.Error{Reason: pb.ReasonTooManyGames, Message: "too many games"}
	}
	p, d := newPlay(t, s)
	d.press("up", "up")
	take(t, calls).answer <- answer{err: &client.Error{Reason: pb.ReasonNotSeated, Message: "no seat"}}
	d.until("the refusal", func() bool { return p.problem != "" })
	assert.Contains(t, p.state(), "no seat")
	assert.Empty(t, p.queue)
	d.press("n", "y")
	d.until("the second refusal", func() bool { return p.problem == "too many games" })
	assert.False(t, p.starting)
	d.send(updateMsg{gameID: gameID, err: &client.Error{Reason: pb.ReasonBadToken}})
	assert.Contains(t, p.state(), "no longer has")
	assert.NotContains(t, p.Farewell(), "waits")
	assert.Contains(t, p.badge(&p.base), "ended")
}

// TestLeaving quits at once with q, and as interrupted with ctrl-c, whatever
// lies over the board.
func TestLeaving(t *testing.T) {
	t.Parallel()
	for _, before := range [][]string{nil, {"?"}, {"n"}, {"up"}} {
		s, _ := asked()
		p, d := newPlay(t, s)
		d.press(before...)
		d.press("ctrl+c")
		d.until("the end", func() bool { return d.quit })
		assert.True(t, p.stop())
	}
	s, _ := asked()
	p, d := newPlay(t, s)
	d.press("?", "q") // closes the help
	assert.False(t, p.help)
	d.press("q")
	d.until("the end", func() bool { return d.quit })
	assert.False(t, p.stop())
	assert.Equal(t, "ada left a classic game at 12,340 points (best tile 1024, 612 moves). "+
		"Resume it with gridstand play --resume, or gridstand play "+gameID, p.Farewell())
}

// TestWindow follows the terminal's size, depth of colour and ground.
func TestWindow(t *testing.T) {
	t.Parallel()
	s, _ := asked()
	p, d := newPlay(t, s)
	d.send(tea.WindowSizeMsg{Width: 10, Height: 3})
	assert.Contains(t, p.View().Content, "needs")
	d.send(tea.WindowSizeMsg{Width: 100, Height: 30})
	assert.NotContains(t, p.View().Content, "needs")
	d.send(tea.ColorProfileMsg{Profile: colorprofile.ANSI})
	d.send(tea.BackgroundColorMsg{Color: trueLight.empty})
	assert.Equal(t, Theme{Profile: colorprofile.ANSI, Light: true}, p.theme)
	for width := 0; width < 130; width += 7 {
		for height := 0; height < 45; height += 4 {
			d.send(tea.WindowSizeMsg{Width: width, Height: height})
		}
	}
}

// TestForeignText keeps escape sequences of a server out of the terminal.
func TestForeignText(t *testing.T) {
	t.Parallel()
	g := someGame(someBoard(4, 4))
	evil := "\x1b]0;owned\a\x1b[2Jada\u202e"
	g.Variant = evil
	g.Seats[0].GetPlayer().Name = evil
	for _, s := range []Screen{somePlay(g), someWatch(g)} {
		text := s.View().Content + s.Farewell()
		assert.NotContains(t, text, "\x1b]")
		assert.NotContains(t, text, "\x1b[2J")
		assert.NotContains(t, text, "\u202e")
		s.stop()
	}
	assert.Equal(t, "the best live ]0;owned[2Jada game", func() string {
		_, why := (&tv{}).choose(nil, []*pb.Game{proto.CloneOf(g)}, noon)
		return why
	}())
}

// TestPlay_OtherKindOfBoard shows each screen of a player a board of the other
// kind, in all ways in which a hostile server can: it stays with what it had.
func TestPlay_OtherKindOfBoard(t *testing.T) {
	t.Parallel()
	ours, theirs := someGame(someBoard(4, 4)), translate.Game(triboloEvent(t, 0, adaAndBots()...).State, 0)
	for name, screen := range map[string]func() (Screen, *match){
		"2048":    func() (Screen, *match) { p := somePlay(ours); return p, &p.match },
		"tribolo": func() (Screen, *match) { b := someTribolo(t, nil); return b, &b.match },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			other := ours
			if name == "2048" {
				other = theirs
			}
			version := int32(1000)
			event := &pb.Event{GameId: gameID, Version: version, Position: other.GetPosition()}
			whole := proto.CloneOf(other)
			whole.Id, whole.Version = gameID, version
			for _, msg := range []tea.Msg{
				updateMsg{gameID: gameID, update: client.Update{Event: event}},
				updateMsg{gameID: gameID, update: client.Update{Game: whole}},
				movedMsg{gameID: gameID, event: event},
				actedMsg{gameID: gameID, event: event},
				actedMsg{gameID: gameID, game: whole},
				fetchedMsg{gameID: gameID, game: whole},
				resignedMsg{gameID: gameID, event: event},
				openedMsg{game: whole},
			} {
				s, m := screen()
				before := m.game.GetVersion()
				s.Update(msg)
				for _, key := range []tea.KeyPressMsg{{Code: tea.KeyUp}, {Code: tea.KeyLeft}} {
					s.Update(key)
				}
				assert.NotEmpty(t, s.View().Content)
				assert.Equal(t, before, m.game.GetVersion(), "%T", msg)
				s.stop()
			}
		})
	}
}
