package challenge

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	tea "charm.land/bubbletea/v2"
	"google.golang.org/grpc"

	"github.com/gridstand/gridstand/client"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/ui"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/widget"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

func (p *page) Keys() ui.KeyMap {
	if p.bots != nil {
		return ui.Keys(ui.Bind(fmt.Sprintf("1–%d", len(p.bots)), "choose"), ui.Bind("esc", "close"))
	}
	return p.table().Map("enter", "s", "n", "b", "x", "y", "r")
}

// table returns the keys of the page in the challenge's current state.
func (p *page) table() ui.KeyTable {
	server, waiting := p.env.Server, p.Stage() == pb.ChallengeStatus_CHALLENGE_STATUS_WAITING
	may, entrant := p.env.Guest == "", p.Entrant()
	creator := waiting && p.Mine()
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
		ready = "not ready"
	}
	enter := ui.Run(ui.Replace(ui.Route{Enter: p.ID}))
	return ui.KeyTable{{
		ui.On("enter", "enter", play, may && p.Open() && (!p.Race() || p.watching && p.playable()), enter),
		ui.On("enter j", "enter", "join", may && waiting && entrant == nil, enter),
		ui.On("enter space", "enter", ready, waiting && entrant != nil, func() tea.Cmd {
			p.watching = false
			return call(p, server.JoinChallenge, &pb.JoinChallengeRequest{ChallengeId: p.ID, Ready: !entrant.GetReady()}, nil)
		}),
		ui.On("s", "s", "start", creator && len(p.GetEntrants()) > 1, func() tea.Cmd {
			return call(p, server.StartChallenge, &pb.StartChallengeRequest{ChallengeId: p.ID}, nil)
		}),
		ui.On("b", "b", "add a bot", creator, p.askBots),
		ui.On("x", "x", "remove a bot", creator && p.lastBot() != "", func() tea.Cmd {
			return call(p, server.LeaveChallenge, &pb.LeaveChallengeRequest{ChallengeId: p.ID, GameId: p.lastBot()}, nil)
		}),
		// A player whose board is full need not wait for the others.
		ui.On("n", "n", "race again", may && p.Race() && (p.Closed() || p.Open() && entrant != nil), func() tea.Cmd {
			return ui.Replace(ui.Route{NewChallenge: p.Contest.Again()})
		}),
		ui.On("y", "y", "copy", true, func() tea.Cmd {
			p.done = "Copied " + p.Invite() + "."
			return tea.SetClipboard(p.Invite())
		}),
		ui.On("r", "r", "rules", true, func() tea.Cmd { return ui.Open(ui.Route{Rules: p.GetVariant()}) }),
		ui.On("q esc", "q", ui.BackText, true, p.leave),
	}}
}

func (p *page) Key(msg tea.KeyPressMsg) tea.Cmd {
	p.problem, p.done = "", ""
	switch {
	case p.bots != nil:
		return p.chosen(msg)
	case p.Challenge == nil && msg.String() != "q" && msg.String() != "esc":
		return nil
	}
	cmd, _ := p.table().Press(msg)
	return cmd
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
// asks for confirmation first.
func (p *page) leave() tea.Cmd {
	if p.Entrant() == nil || p.Stage() != pb.ChallengeStatus_CHALLENGE_STATUS_WAITING {
		return ui.Back
	}
	return p.Ask(&ui.Question{
		Title: "Leave the race?", Text: "It has not started yet. It can take place without you.", Yes: "leave", No: "stay",
		Then: func() tea.Cmd {
			return call(p, p.env.Server.LeaveChallenge, &pb.LeaveChallengeRequest{ChallengeId: p.ID}, ui.Back)
		},
	})
}

// askBots lets the user choose one of the variant's bots.
func (p *page) askBots() tea.Cmd {
	return ui.Call(p.Tasks, p.env.Server.Variants, func(variants []*pb.Variant, err error) tea.Cmd {
		if err != nil {
			p.problem = ui.Explain(err, ui.SameKey)
			return nil
		}
		p.bots = ui.Find(variants, func(v *pb.Variant) bool { return v.GetId() == p.GetVariant() }).GetBots()
		if len(p.bots) == 0 {
			p.problem = "There is no bot for " + client.CleanText(p.GetVariant(), widget.NameLimit) + "."
		}
		return nil
	})
}

// chosen handles a key while the user is choosing a bot.
func (p *page) chosen(msg tea.KeyPressMsg) tea.Cmd {
	bots := p.bots
	p.bots = nil
	i, err := strconv.Atoi(msg.Text)
	if err != nil || i < 1 || i > len(bots) {
		return nil
	}
	return call(p, func(ctx context.Context, bot string, _ ...grpc.CallOption) (*pb.Challenge, error) {
		return p.env.Server.AddBot(ctx, p.ID, bot)
	}, bots[i-1], nil)
}
