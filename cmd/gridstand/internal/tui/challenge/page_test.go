package challenge

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/gridstand/gridstand/client"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/tuitest"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/ui"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// open opens the page of c. The challenge's stream starts with a snapshot of c.
func open(t *testing.T, server *tuitest.Server, c *pb.Challenge, change func(env *ui.Env)) (*page, *tuitest.Driver) {
	t.Helper()
	return openBy(t, server, c, change, func(ctx context.Context, env *ui.Env) ui.Page { return New(ctx, env, c.GetId(), false) })
}

// openWatch opens the page of c for a user who only watches.
func openWatch(t *testing.T, server *tuitest.Server, c *pb.Challenge, change func(env *ui.Env)) (*page, *tuitest.Driver) {
	t.Helper()
	return openBy(t, server, c, change, func(ctx context.Context, env *ui.Env) ui.Page { return NewWatch(ctx, env, c.GetId()) })
}

func openBy(
	t *testing.T, server *tuitest.Server, c *pb.Challenge, change func(env *ui.Env), create func(context.Context, *ui.Env) ui.Page,
) (*page, *tuitest.Driver) {
	t.Helper()
	server.Contest = tuitest.NewChallengeStream()
	push(server, c)
	env := tuitest.Env(server)
	if change != nil {
		change(env)
	}
	d := tuitest.New(t, env, create)
	p := d.Page.(*page)
	d.Until("the challenge", func() bool { return p.Challenge != nil })
	return p, d
}

func push(server *tuitest.Server, c *pb.Challenge) {
	server.Contest.Push(&pb.WatchChallengeResponse{
		Challenge: c, Standings: tuitest.RaceStandings(), Total: 3, Now: timestamppb.New(tuitest.Noon),
	})
}

// Ensure that the keys of the roster make the right calls, and that only the creator can
// start the race and add bots.
func TestPage_Roster(t *testing.T) {
	t.Parallel()
	race := tuitest.WaitingRace()
	var calls []string
	made := make(chan string, 10)
	server := &tuitest.Server{OnChallenges: tuitest.OnChallenges{
		OnJoinRace: func(r *pb.JoinChallengeRequest) (*pb.Challenge, error) {
			switch {
			case r.GetBot() != "":
				made <- "add " + r.GetBot()
			case r.GetReady():
				made <- "ready"
			default:
				made <- "not ready"
			}
			return race, nil
		},
		OnLeaveRace: func(r *pb.LeaveChallengeRequest) (*pb.Challenge, error) {
			made <- "leave " + r.GetGameId()
			return race, nil
		},
		OnStartRace: func(string) (*pb.Challenge, error) {
			made <- "start"
			return nil, client.ErrTooFewEntrants
		},
	}}
	p, d := open(t, server, race, nil)
	does := func(keys ...string) {
		t.Helper()
		d.Press(keys...)
		d.Until("a call", func() bool { return len(made) > 0 && !p.busy })
		calls = append(calls, <-made)
	}
	does("enter")
	d.Press("b")
	d.Until("the bots", func() bool { return p.bots != nil })
	assert.Contains(t, d.Screen(), "1 greedy")
	assert.Contains(t, d.Screen(), "1–2 choose")
	does("2")
	does("x")
	does("s")
	assert.Contains(t, d.Screen(), client.ErrTooFewEntrants.Error())
	assert.Equal(t, []string{"not ready", "add expectimax", "leave " + race.GetEntrants()[2].GetGameId(), "start"}, calls)

	d.Press("y")
	assert.Contains(t, d.Screen(), "Copied gridstand join "+race.GetId())
	d.Press("q")
	assert.Contains(t, d.Screen(), "Leave the race?")
	d.Press("n")
	assert.Empty(t, d.Left)
	d.Press("q", "y")
	d.Until("leaving", func() bool { return len(d.Left) > 0 })
	assert.Equal(t, "leave ", <-made)
	assert.Equal(t, ui.BackMsg{}, d.Left[0])

	_, d = open(t, server, race, func(env *ui.Env) { env.Me = "bob" })
	d.Press("s", "b", "x")
	assert.Empty(t, made)
	assert.NotContains(t, d.Screen(), "start ")
}

// Ensure that the roster says what to do if everyone is ready but the race does not start.
func TestPage_TooManyBots(t *testing.T) {
	t.Parallel()
	_, d := open(t, &tuitest.Server{}, tuitest.WaitingRace(), nil)
	assert.NotContains(t, d.Screen(), "too many bots")
	race := tuitest.WaitingRace()
	race.GetEntrants()[1].Ready = true
	_, d = open(t, &tuitest.Server{}, race, nil)
	assert.Contains(t, d.Screen(), "too many bots")
}

// Ensure that other users can join, that guests can only watch, and that guests leave
// without confirmation.
func TestPage_Others(t *testing.T) {
	t.Parallel()
	for me, want := range map[string]any{
		"carol": ui.Route{Enter: tuitest.ChallengeID},
		"guest": ui.BackMsg{},
	} {
		_, d := open(t, &tuitest.Server{}, tuitest.WaitingRace(), func(env *ui.Env) {
			if env.Me = me; me == "guest" {
				env.Me, env.Guest = "", "You are a guest."
			}
		})
		d.Press("enter")
		if me == "guest" { // enter has no effect
			d.Press("q")
		}
		d.Until("another page", func() bool { return len(d.Left) > 0 })
		got := any(d.Left[0])
		if replace, ok := got.(ui.ReplaceMsg); ok {
			got = replace.Route
		}
		assert.Equal(t, want, got, me)
	}
}

// Ensure that the user's game replaces the page as soon as the server reveals it.
func TestPage_Opens(t *testing.T) {
	t.Parallel()
	var asked atomic.Int32
	server := &tuitest.Server{OnGame: func() (*pb.Game, error) {
		if asked.Add(1) < 3 {
			return nil, client.ErrChallengeNotOpen
		}
		return tuitest.Game(tuitest.Board(4, 4)), nil
	}}
	begun := time.Now()
	race := tuitest.Race()
	race.OpenTime = timestamppb.New(tuitest.Noon.Add(50 * time.Millisecond))
	_, d := open(t, server, race, func(env *ui.Env) {
		env.Clock = func() time.Time { return tuitest.Noon.Add(time.Since(begun)) }
	})
	d.Until("the game", func() bool { return len(d.Left) > 0 })
	assert.Equal(t, ui.Route{Play: tuitest.GameID}, d.Left[0].(ui.ReplaceMsg).Route)
	assert.Equal(t, int32(3), asked.Load())
	d.Until("the bell", func() bool { return len(d.Heard) > 0 })
	assert.Equal(t, []tea.Msg{tea.RawMsg{Msg: "\a"}}, d.Heard)
}

// Ensure that a player who watches their own race sees all boards and can return to their own
// board, and that a player who gets ready while watching is taken to their game when the race
// opens.
func TestPage_Watch(t *testing.T) {
	t.Parallel()
	race, server := tuitest.Race(), &tuitest.Server{
		OnGame:  func() (*pb.Game, error) { return tuitest.Game(tuitest.Board(4, 4)), nil },
		Streams: map[string]*tuitest.Stream{},
	}
	for _, e := range race.GetEntrants() {
		g := tuitest.Game(tuitest.Board(4, 4))
		g.Id = e.GetGameId()
		server.Streams[g.GetId()] = tuitest.NewStream()
		server.Streams[g.GetId()].Push(client.Update{Game: g})
	}
	p, d := openWatch(t, server, race, nil)
	d.Env.Width, d.Env.Height = 120, 40
	d.Until("all boards", func() bool {
		boards, ok := p.Boards(110, 30)
		return ok && len(boards) > 1000
	})
	assert.Empty(t, d.Left)
	assert.Contains(t, d.Screen(), "ada (you)")
	assert.Contains(t, d.Screen(), "enter your board")
	assert.Contains(t, p.ClosingMessage(), "Return to your own board with gridstand join "+race.GetId())
	d.Press("enter")
	d.Until("the user's board", func() bool { return len(d.Left) > 0 })
	assert.Equal(t, ui.Route{Enter: race.GetId()}, d.Left[0].(ui.ReplaceMsg).Route)

	other := &tuitest.Server{}
	p, d = openWatch(t, other, race, func(env *ui.Env) { env.Me = "carol" })
	assert.Contains(t, p.ClosingMessage(), "Watch it again with gridstand watch "+race.GetId())
	d.Press("n")
	assert.Empty(t, d.Left, "others race again once the race is over")
	assert.NotContains(t, d.Screen(), "race again")
	over := proto.CloneOf(race)
	over.CloseTime = timestamppb.New(tuitest.Noon)
	push(other, over)
	d.Until("the end", func() bool { return strings.Contains(d.Screen(), "race again") })

	waiting := tuitest.WaitingRace()
	server.OnChallenges = tuitest.OnChallenges{
		OnJoinRace: func(*pb.JoinChallengeRequest) (*pb.Challenge, error) { return waiting, nil },
	}
	_, d = openWatch(t, server, waiting, nil)
	d.Press("enter")
	push(server, race)
	d.Until("the game", func() bool { return len(d.Left) > 0 })
	assert.Equal(t, ui.Route{Play: tuitest.GameID}, d.Left[0].(ui.ReplaceMsg).Route)
}

// Ensure that a user whose attempt is over sees the other players' boards.
func TestPage_Finished(t *testing.T) {
	t.Parallel()
	server := &tuitest.Server{
		OnGame: func() (*pb.Game, error) {
			g := tuitest.Game(tuitest.Board(4, 4))
			g.Status = pb.GameStatus_GAME_STATUS_FINISHED
			return g, nil
		},
		Streams: map[string]*tuitest.Stream{},
	}
	race := tuitest.Race()
	for _, e := range race.GetEntrants() {
		g := tuitest.Game(tuitest.Board(4, 4))
		g.Id = e.GetGameId()
		server.Streams[g.GetId()] = tuitest.NewStream()
		server.Streams[g.GetId()].Push(client.Update{Game: g})
	}
	p, d := open(t, server, race, nil)
	d.Env.Width, d.Env.Height = 120, 40
	d.Until("the boards", func() bool {
		boards, ok := p.Boards(110, 30)
		return ok && len(boards) > 1000
	})
	assert.Empty(t, d.Left)
	for _, name := range []string{"ada (you)", "bob", "greedy (bot)"} {
		assert.Contains(t, d.Screen(), name)
	}
	d.Press("n")
	d.Until("a new race", func() bool { return len(d.Left) > 0 })
	again := d.Left[0].(ui.ReplaceMsg).Route.NewChallenge
	require.NotNil(t, again)
	assert.Equal(t, []string{"greedy"}, again.Bots)

	race.CloseTime = timestamppb.New(tuitest.Noon)
	push(server, race)
	server.Contest.End()
	d.Until("the results", func() bool { return strings.Contains(d.Screen(), "Results") })
	assert.Empty(t, p.ClosingMessage())
}

// Ensure that the page of a link challenge shows the invitation, and that Enter plays the
// challenge.
func TestPage_Link(t *testing.T) {
	t.Parallel()
	link := tuitest.Race()
	link.Kind, link.Entrants = pb.ChallengeKind_CHALLENGE_KIND_LINK, nil
	p, d := open(t, &tuitest.Server{}, link, nil)
	assert.Contains(t, d.Screen(), "Challenge by ada")
	assert.Contains(t, d.Screen(), "gridstand join "+link.GetId())
	assert.Contains(t, p.ClosingMessage(), "gridstand join "+link.GetId())
	d.Press("enter")
	d.Until("the game", func() bool { return len(d.Left) > 0 })
	assert.Equal(t, ui.Route{Enter: link.GetId()}, d.Left[0].(ui.ReplaceMsg).Route)
	p.CloseTime = timestamppb.New(tuitest.Noon)
	assert.Contains(t, d.Screen(), "closed")
	assert.NotContains(t, d.Screen(), "gridstand join")
}

// Ensure that the page explains why a challenge cannot be loaded.
func TestPage_Missing(t *testing.T) {
	t.Parallel()
	d := tuitest.New(t, tuitest.Env(&tuitest.Server{}), func(ctx context.Context, env *ui.Env) ui.Page {
		return New(ctx, env, tuitest.ChallengeID, true)
	})
	p := d.Page.(*page)
	d.Until("the error", func() bool { return p.Err != nil })
	p.done = ""
	assert.Contains(t, d.Screen(), "does not have this challenge")
	d.Press("enter", "s", "y", "n", "q")
	d.Until("leaving", func() bool { return len(d.Left) > 0 })
	assert.Equal(t, ui.BackMsg{}, d.Left[0])
}

// Ensure that a problem with the server is no longer shown once the connection is back.
func TestPage_Reconnected(t *testing.T) {
	t.Parallel()
	p, d := open(t, &tuitest.Server{}, tuitest.WaitingRace(), nil)
	p.problem = "The server does not answer."
	for _, state := range []client.ConnectionState{client.Reconnecting, client.Live} {
		assert.Contains(t, d.Screen(), "does not answer")
		p.Continue(tuitest.Result(p.Update, client.ChallengeUpdate{Connection: client.Connection{State: state}}, nil))
	}
	assert.NotContains(t, d.Screen(), "does not answer")
}
