// Package challenge implements the challenge page. It shows the roster, the countdown and
// all boards of a race, the invitation to any other challenge, and the standings.
package challenge

import (
	"context"
	"errors"
	"slices"

	tea "charm.land/bubbletea/v2"
	"google.golang.org/grpc"

	"github.com/gridstand/gridstand/client"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/gamestate"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/ui"
	"github.com/gridstand/gridstand/internal/describe"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// page shows a challenge. When a race that the user has joined opens, the page of the user's
// game replaces this page, unless the user only watches.
type page struct {
	*gamestate.Contest
	*ui.Tasks
	env *ui.Env

	// watching is set while the user only watches.
	watching bool
	// requested is set once the user's game has been requested, until it is time to retry.
	// alerted is set once the bell has rung because the race is about to open.
	requested, alerted bool
	// busy is set while a call that changes the race is in flight.
	busy bool
	// leaving is set while the page tells the server that the user leaves the race.
	leaving bool
	// first is set once the server has said that there is no daily game of the day before.
	first bool
}

// New returns a challenge's page. watching is set for a user who only watches: in a race, the page then
// shows all boards, even if one of them is the user's.
func New(ctx context.Context, env *ui.Env, id string, watching bool) ui.Page {
	tasks := ui.NewTasks(ctx)
	return &page{Contest: gamestate.NewContest(env, tasks, id, ""), env: env, Tasks: tasks, watching: watching}
}

func (p *page) Init() tea.Cmd { return tea.Batch(p.Load(), p.Watch()) }

// playable reports whether the user has a board in an open race and has not finished.
func (p *page) playable() bool {
	e := p.Entrant()
	return e != nil && p.Open() && !p.Standing(e.GetGameId()).GetFinished()
}

// Continue implements ui.Page. Any change may open the race.
func (p *page) Continue(then ui.Then) tea.Cmd { return tea.Batch(then(), p.ring(), p.play()) }

// Resumed implements ui.Resuming.
func (p *page) Resumed() tea.Cmd { return p.Load() }

// ring returns a command that rings the terminal's bell if the user's race is about to
// open.
func (p *page) ring() tea.Cmd {
	if p.alerted || p.Entrant() == nil || p.Stage() != pb.ChallengeStatus_CHALLENGE_STATUS_SCHEDULED {
		return nil
	}
	p.alerted = true
	return tea.Raw("\a")
}

// play requests the user's game once the race is open, unless the user only watches.
func (p *page) play() tea.Cmd {
	if p.requested || p.watching || !p.playable() {
		return nil
	}
	p.requested = true
	id := p.Entrant().GetGameId()
	return ui.Call(p.Tasks, func(ctx context.Context) (client.Game, error) { return p.env.Server.Game(ctx, id) }, p.playing)
}

// playing opens the user's game. It retries until the game's page replaces this one: if the client's clock is
// ahead of the server's, the game is still hidden.
func (p *page) playing(g client.Game, err error) tea.Cmd {
	again := func() tea.Cmd { p.requested = false; return p.play() }
	switch {
	case errors.Is(err, client.ErrChallengeNotOpen):
		return p.Later(gamestate.RetryTime, again)
	case err != nil:
		p.Refuse(ui.Explain(err, "Retrying …"))
		return p.Later(10*gamestate.RetryTime, again)
	case g.GetStatus() == pb.GameStatus_GAME_STATUS_FINISHED:
		return nil // stay here to watch the other players
	}
	return tea.Batch(ui.Replace(p.Tasks, ui.Route{Play: g.GetId()}), p.Later(10*gamestate.RetryTime, again))
}

// call makes a call that changes the race. The modified race itself arrives on the stream.
func call[R, T any](p *page, do func(context.Context, R, ...grpc.CallOption) (T, error), r R) tea.Cmd {
	if p.busy {
		return nil
	}
	p.busy = true
	return ui.Call(p.Tasks, func(ctx context.Context) (T, error) { return do(ctx, r) }, func(_ T, err error) tea.Cmd {
		p.busy = false
		if err != nil {
			return p.Fail(err)
		}
		return nil
	})
}

// Keys implements ui.Page.
func (p *page) Keys() ui.KeyTable {
	server, waiting := p.env.Server, p.Stage() == pb.ChallengeStatus_CHALLENGE_STATUS_WAITING
	may, entrant := p.env.WatchOnly == "", p.Entrant()
	host, free := waiting && p.Hosts(), waiting && len(p.GetEntrants()) < gamestate.MaxEntrants
	// A player whose board is full need not wait for the others.
	over := p.Closed() || p.Open() && entrant != nil && !p.playable()
	play, ready := "play", "ready"
	switch {
	case p.Race():
		play = "your board"
	case p.Attempt.GetStatus() == pb.GameStatus_GAME_STATUS_FINISHED:
		play = "your result"
	case p.Attempt != nil:
		play = "continue"
	}
	if entrant.GetReady() {
		ready = "unready"
	}
	enter := ui.Run(ui.Replace(p.Tasks, ui.Route{Enter: p.ID}))
	name := func() tea.Cmd { return p.AskName(p.env) }
	daily := p.Is(pb.ChallengeKind_CHALLENGE_KIND_DAILY)
	today := ui.Run(ui.Replace(p.Tasks, ui.Route{Daily: &pb.DailyRequest{Variant: p.GetVariant()}}))
	return ui.KeyTable{{
		ui.On("enter", "enter", play, may && p.Open() && (!p.Race() || p.watching && p.playable()), enter).Footer(1),
		ui.On("enter", "enter", "today's game", may && daily && p.Closed(), today).Footer(1),
		ui.On("enter j", "enter", "join", may && free && entrant == nil, enter).Footer(1),
		ui.On("enter space", "enter", ready, waiting && entrant != nil, func() tea.Cmd {
			p.watching = false
			return call(p, server.JoinChallenge, &pb.JoinChallengeRequest{ChallengeId: p.ID, Ready: !entrant.GetReady()})
		}).Footer(1),
		ui.On("e", "e", "name", waiting && p.env.Guest(entrant.GetPlayer()), name).Footer(3),
		ui.On("s", "s", "start", host && len(p.GetEntrants()) > 1, func() tea.Cmd {
			return call(p, server.StartChallenge, &pb.StartChallengeRequest{ChallengeId: p.ID})
		}).Footer(2),
		ui.On("b", "b", "add a bot", host && free, p.addBot).Footer(4),
		ui.On("x", "x", "remove a bot", host && p.lastBot() != "", func() tea.Cmd {
			return call(p, server.LeaveChallenge, &pb.LeaveChallengeRequest{ChallengeId: p.ID, GameId: p.lastBot()})
		}).Footer(5),
		ui.On("n", "n", "race again", may && p.Race() && over, func() tea.Cmd {
			return ui.Replace(p.Tasks, ui.Route{NewChallenge: p.Contest.Again()})
		}).Footer(3),
		ui.On("left", "←", "day before", daily && !p.first, p.dayBefore).Footer(2),
		p.CopyKey(p.Challenge != nil, 6, p.Invitation()),
		ui.On("r", "r", "rules", p.Challenge != nil, ui.Run(ui.Open(ui.Route{Rules: p.GetVariant()}))).Footer(7),
		ui.On("q esc", "q", ui.BackText, true, p.leave),
	}}
}

// dayBefore opens the daily game of the day before.
func (p *page) dayBefore() tea.Cmd {
	day := describe.DayBefore(p.Challenge)
	request := &pb.GetChallengeRequest{Daily: &pb.DailyRequest{Variant: p.GetVariant(), Date: day}}
	return ui.Call(p.Tasks, func(ctx context.Context) (*pb.GetChallengeResponse, error) {
		return p.env.Server.GetChallenge(ctx, request)
	}, func(reply *pb.GetChallengeResponse, err error) tea.Cmd {
		if p.first = errors.Is(err, client.ErrChallengeNotFound); p.first {
			return p.Refuse("There is no daily game on " + day + ", or its results are no longer stored.")
		}
		if err != nil {
			return p.Fail(err)
		}
		return ui.Replace(p.Tasks, ui.Route{Challenge: reply.GetChallenge().GetId()})
	})
}

// lastBot returns the game id of the most recently added bot, or "".
func (p *page) lastBot() string {
	for _, e := range slices.Backward(p.GetEntrants()) {
		if e.GetBot() != "" {
			return e.GetGameId()
		}
	}
	return ""
}

// leave closes the page. If the user is on the roster of a race that has not started, it
// asks for confirmation first. It then closes the page even if the server does not answer: it soon no
// longer lists a race that none of its players watches.
func (p *page) leave() tea.Cmd {
	if p.leaving || p.Entrant() == nil || p.Stage() != pb.ChallengeStatus_CHALLENGE_STATUS_WAITING {
		return ui.Back
	}
	return p.Ask(&ui.Question{
		Title: "Leave the race?", Text: "It has not started yet.", No: "stay",
		Choices: ui.Yes("leave", func() tea.Cmd {
			p.leaving = true
			return ui.Call(p.Tasks, func(ctx context.Context) (*pb.LeaveChallengeResponse, error) {
				return p.env.Server.LeaveChallenge(ctx, &pb.LeaveChallengeRequest{ChallengeId: p.ID})
			}, func(*pb.LeaveChallengeResponse, error) tea.Cmd { return ui.Back })
		}),
	})
}

// ClosingMessage implements ui.Closing. A player who interrupts the program stays on the roster of a race that waits.
func (p *page) ClosingMessage() string {
	command := p.env.Command("join", p.ID)
	if command == "" || p.leaving || p.Entrant() == nil || p.Stage() != pb.ChallengeStatus_CHALLENGE_STATUS_WAITING {
		return ""
	}
	return "You keep your place in the race. To return to it, or to leave it there with q:\n" + command
}

// addBot puts a greedy bot, which every variant has, on the roster.
func (p *page) addBot() tea.Cmd {
	return call(p, func(ctx context.Context, bot string, _ ...grpc.CallOption) (*pb.Challenge, error) {
		return p.env.Server.AddBot(ctx, p.ID, bot)
	}, "greedy")
}
