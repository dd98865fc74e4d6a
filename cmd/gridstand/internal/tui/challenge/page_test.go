package challenge

import (
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
	"github.com/stretchr/testify/assert"
	"go.uber.org/goleak"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/gridstand/gridstand/client"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/gamestate"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/tuitest"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/ui"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// open opens the page of c for the account me, or for a guest if me is empty. The challenge's stream
// starts with a snapshot of c. The server has a board for every entrant.
func open(t *testing.T, server *tuitest.Server, c *pb.Challenge, me string, watching bool) (*page, *tuitest.Driver) {
	t.Helper()
	server.Contest = tuitest.NewChallengeStream(tuitest.Snapshot(c, tuitest.Noon, tuitest.RaceStandings()...))
	for _, e := range c.GetEntrants() {
		g := tuitest.Game(tuitest.Board(4, 4))
		g.Id = e.GetGameId()
		server.Stream(g.GetId()).Push(client.Update{Game: g})
	}
	env := tuitest.Env(server)
	if env.Me = me; me == "" {
		env.WatchOnly = "You are a guest."
	}
	p := New(t.Context(), env, c.GetId(), watching).(*page)
	d := tuitest.Drive(t, env, p)
	d.Until("the challenge", func() bool { return p.Challenge != nil })
	return p, d
}

// left waits until the page has opened or closed a page, and returns the route, or nil if it closed itself.
func left(d *tuitest.Driver) *ui.Route {
	if replace, ok := d.Leave().(ui.ReplaceMsg); ok {
		return &replace.Route
	}
	return nil
}

// Ensure that the keys of the roster make the right calls, and that only the creator can
// start the race and add bots.
func TestPage_Roster(t *testing.T) {
	t.Parallel()
	race := tuitest.WaitingRace()
	made := make(chan string, 10)
	server := &tuitest.Server{OnRace: func(call string) error {
		made <- call
		if call == "start" {
			return client.ErrTooFewEntrants
		}
		return nil
	}}
	p, d := open(t, server, race, tuitest.Me, false)
	does := func(call string, keys ...string) {
		t.Helper()
		d.Press(keys...)
		d.Until("a call", func() bool { return len(made) > 0 && !p.busy })
		assert.Equal(t, call, <-made)
	}
	does("join ready=false", "enter")
	assert.Contains(t, d.Screen(), "b add a bot")
	d.Env.Width, d.Env.Height, d.Env.Site = 50, 18, "https://play.example"
	d.Shows("enter unready  s start  y link  ?", "https://play.example/c/")
	d.Env.Width, d.Env.Height, d.Env.Site = 80, 24, ""
	does("add greedy", "b")
	does("leave "+race.GetEntrants()[2].GetGameId(), "x")
	does("start", "s")
	d.Shows(client.ErrTooFewEntrants.Error(), "s start")

	d.Press("y").Shows("Sent to the terminal's clipboard: gridstand join " + race.GetId())
	assert.NotContains(t, d.Screen(), "too many bots")
	d.Press("q").Shows("Leave the race?")
	d.Press("n")
	assert.Empty(t, d.Left)
	assert.Contains(t, p.ClosingMessage(), "with q:\ngridstand join "+race.GetId(), "if ctrl-c ends the program")
	server.OnRace = func(call string) error {
		made <- call
		return client.ErrServerUnavailable
	}
	does("leave ", "q", "y")
	assert.Nil(t, left(d), "also if the server is gone")
	assert.Empty(t, p.ClosingMessage())

	other := proto.CloneOf(race)
	other.GetEntrants()[1].Ready = true
	_, d = open(t, server, other, "bob", false)
	assert.Contains(t, d.Screen(), "too many bots", "everyone is ready, but the race does not start")
	d.Press("s", "b", "x")
	assert.Empty(t, made)
	assert.NotContains(t, d.Screen(), "s start")

	for len(race.GetEntrants()) < gamestate.MaxEntrants {
		race.Entrants = append(race.Entrants, &pb.Entrant{GameId: "more", Who: &pb.Entrant_Bot{Bot: "greedy"}})
	}
	_, d = open(t, server, race, tuitest.Me, false)
	assert.Contains(t, d.Screen(), "s start")
	assert.NotContains(t, d.Screen(), "add a bot", "the race is full")
	race.GetEntrants()[1].GetPlayer().Name = "abcdefghijklmnopqrstuvwx"
	_, d = open(t, server, race, "eve", false)
	assert.NotContains(t, d.Screen(), "enter join")
	d.Env.Width, d.Env.Height = 40, 12
	assert.Contains(t, d.Screen(), "│ · abcdefghijklmnopqrstu… not ready │")
}

// Ensure that a notice does not hide why the page no longer follows the challenge.
func TestPage_Ended(t *testing.T) {
	t.Parallel()
	p, d := open(t, &tuitest.Server{}, tuitest.WaitingRace(), tuitest.Me, false)
	away := client.Connection{State: client.Reconnecting, Attempt: 3, Err: client.ErrUnreachable}
	d.Send(tuitest.Result(p.Contest.Update, client.ChallengeUpdate{Connection: away}, nil))
	d.Shows("The server does not answer. It may have ended")
	d.Press("y")
	d.Send(tuitest.Result(p.Contest.Update, client.ChallengeUpdate{}, client.ErrChallengeNotFound))
	assert.Contains(t, d.Screen(), "The server does not have this challenge.")
}

// Ensure that a page which opens while no server can be reached gets the user's attempt later, and does not ask
// the user to open it again.
func TestPage_Unreachable(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		down := true
		daily := tuitest.DailyGame()
		server := &tuitest.Server{Contest: make(tuitest.ChallengeStream)}
		server.OnChallenge = func(*pb.GetChallengeRequest) (*pb.GetChallengeResponse, error) {
			if down {
				return nil, &client.Error{Code: codes.Unavailable, Message: "connection refused"}
			}
			attempt := &pb.Attempt{Status: pb.GameStatus_GAME_STATUS_FINISHED, Score: 1024}
			return &pb.GetChallengeResponse{Challenge: daily, Attempt: attempt, Now: timestamppb.New(tuitest.Noon)}, nil
		}
		env := tuitest.Env(server)
		p := New(t.Context(), env, daily.GetId(), true).(*page)
		d := tuitest.Drive(t, env, p)
		d.Settle()
		assert.NotContains(t, d.Screen(), "Open it again")
		down = false
		d.Until("the attempt", func() bool { return p.Attempt != nil })
		assert.Contains(t, d.Screen(), "enter your result")
	})
}

// Ensure that the keys of a challenge's page lead where its state allows.
func TestPage_Leads(t *testing.T) {
	t.Parallel()
	waiting, race, over, link := tuitest.WaitingRace(), tuitest.Race(), tuitest.Race(), tuitest.Race()
	over.CloseTime = timestamppb.New(tuitest.Noon)
	link.Kind, link.Entrants = pb.ChallengeKind_CHALLENGE_KIND_LINK, nil
	closed := proto.CloneOf(link)
	closed.CloseTime = timestamppb.New(tuitest.Noon)
	daily := proto.CloneOf(closed)
	daily.Kind = pb.ChallengeKind_CHALLENGE_KIND_DAILY
	enter, today := &ui.Route{Enter: tuitest.ChallengeID}, &ui.Route{Daily: &pb.DailyRequest{Variant: daily.GetVariant()}}
	for name, tt := range map[string]struct {
		c        *pb.Challenge
		me       string
		watching bool
		keys     []string
		want     *ui.Route // nil if the page closes itself
	}{
		"join a race":                 {c: waiting, me: "carol", keys: []string{"n", "enter"}, want: enter},
		"a guest cannot join":         {c: waiting, keys: []string{"enter", "n", "q"}},
		"back to the user's board":    {c: race, me: tuitest.Me, watching: true, keys: []string{"enter"}, want: enter},
		"others wait to race again":   {c: race, me: "carol", watching: true, keys: []string{"n", "enter", "q"}},
		"play a link":                 {c: link, me: "carol", keys: []string{"enter"}, want: enter},
		"a closed link cannot be won": {c: closed, me: "carol", keys: []string{"enter", "esc"}},
		"from an earlier day's game":  {c: daily, keys: []string{"enter"}, me: "carol", want: today},
	} {
		_, d := open(t, &tuitest.Server{}, tt.c, tt.me, tt.watching)
		if tt.c == closed {
			assert.NotContains(t, d.Screen(), "gridstand join")
		}
		d.Press(tt.keys...)
		assert.Equal(t, tt.want, left(d), name)
	}
	guest := proto.CloneOf(waiting)
	guest.GetEntrants()[0].GetPlayer().Name = "guest-k3xq7a"
	_, d := open(t, &tuitest.Server{}, guest, guest.GetEntrants()[0].GetPlayer().GetId(), false)
	assert.Contains(t, d.Screen(), "e name")
	d.Press("e").Shows("What should others call you?")
	_, d = open(t, &tuitest.Server{}, over, "carol", false)
	d.Press("n")
	assert.Equal(t, []string{"greedy"}, left(d).NewChallenge.Bots)
}

// Ensure that a key leads from the page of a daily game to that of the day before.
func TestPage_DayBefore(t *testing.T) {
	t.Parallel()
	asked := 0
	server := &tuitest.Server{OnChallenge: func(r *pb.GetChallengeRequest) (*pb.GetChallengeResponse, error) {
		if r.GetDaily() == nil {
			return nil, client.ErrChallengeNotFound
		}
		switch asked++; asked {
		case 1:
			return nil, client.ErrServerUnavailable
		case 3:
			return nil, client.ErrChallengeNotFound
		}
		return &pb.GetChallengeResponse{Challenge: &pb.Challenge{Id: r.GetDaily().GetVariant() + " " + r.GetDaily().GetDate()}}, nil
	}}
	p, d := open(t, server, tuitest.DailyGame(), tuitest.Me, true)
	assert.Contains(t, d.Screen(), "← day before")
	d.Press("left")
	d.Until("the refusal", func() bool { return p.Notice != "" })
	d.Press("left")
	assert.Equal(t, &ui.Route{Challenge: "classic 2026-11-19"}, left(d))
	d.Press("left")
	d.Until("another refusal", func() bool { return strings.Contains(p.Notice, "There is no daily game on 2026-11-19") })
	assert.NotContains(t, d.Screen(), "← day before")
}

// Ensure that the bell rings before a race opens, and that the user's game replaces the page as soon
// as the server reveals it.
func TestPage_Opens(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		begun, asked := time.Now(), 0
		server := &tuitest.Server{OnGame: func() (*pb.Game, error) {
			assert.GreaterOrEqual(t, time.Since(begun), 50*time.Millisecond, "the race has opened")
			if asked++; asked < 3 {
				return nil, client.ErrChallengeNotOpen
			}
			return tuitest.Game(tuitest.Board(4, 4)), nil
		}}
		race := tuitest.Race()
		race.OpenTime = timestamppb.New(tuitest.Noon.Add(50 * time.Millisecond))
		_, d := open(t, server, race, tuitest.Me, false)
		d.Env.Clock = func() time.Time { return tuitest.Noon.Add(time.Since(begun)) }
		assert.Equal(t, &ui.Route{Play: tuitest.GameID}, left(d))
		assert.Equal(t, 3, asked)
		assert.Equal(t, &ui.Route{Play: tuitest.GameID}, left(d), "again, if it could not be opened")
		assert.Equal(t, []tea.Msg{tea.RawMsg{Msg: "\a"}}, d.Heard)
	})
}

// Ensure that a player who gets ready while watching is taken to their game when the race opens.
func TestPage_ReadyWhileWatching(t *testing.T) {
	t.Parallel()
	waiting := tuitest.WaitingRace()
	server := &tuitest.Server{
		OnGame: func() (*pb.Game, error) { return tuitest.Game(tuitest.Board(4, 4)), nil },
		OnRace: func(string) error { return nil },
	}
	_, d := open(t, server, waiting, tuitest.Me, true)
	d.Press("enter")
	server.Contest <- tuitest.Snapshot(tuitest.Race(), tuitest.Noon, tuitest.RaceStandings()...)
	assert.Equal(t, &ui.Route{Play: tuitest.GameID}, left(d))
}

// Ensure that a user whose attempt is over, or who only watches, sees all boards, and the results once
// the race is over. The boards keep their places until then.
func TestPage_Boards(t *testing.T) {
	t.Parallel()
	for _, watching := range []bool{false, true} {
		server := &tuitest.Server{OnGame: func() (*pb.Game, error) {
			g := tuitest.Game(tuitest.Board(4, 4))
			if !watching { // otherwise the game is still running, but does not replace the page
				g.Status = pb.GameStatus_GAME_STATUS_FINISHED
			}
			return g, nil
		}}
		race := tuitest.Race()
		_, d := open(t, server, race, tuitest.Me, watching)
		d.Env.Width, d.Env.Height = 120, 40
		d.Until("all boards", func() bool { return strings.Count(d.Screen(), "1024") == 3 })
		assert.Regexp(t, `2 ada.* 1 ★ bob.* 3 greedy`, d.Screen())
		assert.Empty(t, d.Left)
		assert.NotContains(t, d.Screen(), "race again", "the user's board is not full")
		race.CloseTime = timestamppb.New(tuitest.Noon)
		server.Contest <- tuitest.Snapshot(race, tuitest.Noon, tuitest.RaceStandings()...)
		close(server.Contest)
		d.Until("the results", func() bool { return regexp.MustCompile(`1 ★ bob.* 2 ada`).MatchString(d.Screen()) })
		assert.Contains(t, d.Screen(), "race again")
	}
}

// Ensure that the roster says when the race starts, and what a player who waits alone or with a bot can do.
func TestPage_Begins(t *testing.T) {
	t.Parallel()
	const usual = "It starts when everyone is ready or the creator starts it."
	race := tuitest.WaitingRace()
	alone := proto.CloneOf(race)
	alone.Entrants = slices.Delete(alone.GetEntrants(), 1, 2)
	alone.GetEntrants()[0].Ready = false
	hidden := proto.CloneOf(alone)
	hidden.Private = true
	single := proto.CloneOf(race) // its only entrant is ready
	single.Entrants = single.GetEntrants()[:1]
	soon := proto.CloneOf(race)
	soon.StartTime = timestamppb.New(tuitest.Noon.Add(15 * time.Second))
	for want, c := range map[string]*pb.Challenge{
		usual: race, "Private. " + usual: hidden,
		"It needs a second player or a bot to start.":                                             single,
		"Others see your race and can join as long as you wait. To race the bot alone, be ready.": alone,
		"It starts in 0:15, or when everyone is ready.":                                           soon,
	} {
		env := tuitest.Env(nil)
		p := shown(t, env, c)
		assert.Contains(t, strings.Join(strings.Fields(ansi.Strip(p.roster(60, 30))), " "), want)
		if c == soon {
			env.Now = env.Now.Add(4 * time.Second)
			assert.Contains(t, p.roster(60, 30), "It starts in 0:11,")
		}
	}
}
