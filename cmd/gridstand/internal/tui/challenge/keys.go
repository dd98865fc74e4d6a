package challenge

import (
	"context"
	"slices"
	"strconv"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"github.com/gridstand/gridstand/client"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/ui"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/widget"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// keys holds the page's key bindings. The challenge's state determines which of them are
// enabled.
type keys struct {
	ui.Common
	Play, Join, Ready, Start, Bot, NoBot, Again, Copy, Rules key.Binding
}

func newKeys() keys {
	return keys{
		Common: ui.NewCommon(),
		Play:   ui.Bind("enter", "play", "enter"),
		Join:   ui.Bind("enter", "join", "enter", "j"),
		Ready:  ui.Bind("enter", "ready", "enter", "space"),
		Start:  ui.Bind("s", "start", "s"),
		Bot:    ui.Bind("b", "add a bot", "b"),
		NoBot:  ui.Bind("x", "remove a bot", "x"),
		Again:  ui.Bind("n", "race again", "n"),
		Copy:   ui.Bind("y", "copy", "y"),
		Rules:  ui.Bind("r", "rules", "r"),
	}
}

// enable enables the keys that apply in the challenge's current state.
func (p *page) enable() *keys {
	k := &p.keys
	waiting := p.Stage() == pb.ChallengeStatus_CHALLENGE_STATUS_WAITING
	may, entrant := p.env.Guest == "", p.Entrant()
	k.Play.SetEnabled(may && p.Open() && (!p.Race() || p.watching && p.playable()))
	k.Join.SetEnabled(may && waiting && entrant == nil)
	k.Ready.SetEnabled(waiting && entrant != nil)
	k.Start.SetEnabled(waiting && p.Mine() && len(p.GetEntrants()) > 1)
	k.Bot.SetEnabled(waiting && p.Mine())
	k.NoBot.SetEnabled(waiting && p.Mine() && p.lastBot() != "")
	// A player whose board is full need not wait for the others.
	k.Again.SetEnabled(may && p.Race() && (p.Closed() || p.Open() && entrant != nil))
	if entrant.GetReady() {
		k.Ready.SetHelp("enter", "not ready")
	} else {
		k.Ready.SetHelp("enter", "ready")
	}
	switch {
	case p.Race():
		k.Play.SetHelp("enter", "your board")
	case p.Attempt.GetStatus() == pb.GameStatus_GAME_STATUS_FINISHED:
		k.Play.SetHelp("enter", "your result")
	case p.Attempt != nil:
		k.Play.SetHelp("enter", "continue")
	}
	return k
}

func (p *page) Keys() ui.KeyMap {
	k := p.enable()
	switch {
	case p.question != nil:
		return p.question.Keys()
	case p.bots != nil:
		return ui.Keys(ui.Bind("1–9", "choose"), ui.Bind("esc", "close"))
	}
	return ui.KeyMap{
		Short: []key.Binding{k.Rules, k.Copy, k.NoBot, k.Bot, k.Again, k.Start, k.Join, k.Ready, k.Play, k.Help, k.Back},
		Full:  [][]key.Binding{{k.Play, k.Join, k.Ready, k.Start, k.Bot, k.NoBot, k.Again, k.Copy, k.Rules, k.Back}},
	}
}

func (p *page) key(msg tea.KeyPressMsg) tea.Cmd {
	k := p.enable()
	switch {
	case p.question != nil:
		return widget.Answer(&p.question, msg)
	case p.bots != nil:
		return p.chosen(msg)
	case ui.Pressed(msg, k.Back):
		return p.leave()
	case p.Challenge == nil:
		return nil
	case ui.Pressed(msg, k.Copy):
		p.done = "Copied " + p.Invite() + "."
		return tea.SetClipboard(p.Invite())
	case ui.Pressed(msg, k.Rules):
		return ui.Open(ui.Route{Rules: p.GetVariant()})
	case ui.Pressed(msg, k.Play, k.Join):
		return ui.Replace(ui.Route{Enter: p.ID})
	case ui.Pressed(msg, k.Again):
		return ui.Replace(ui.Route{NewChallenge: p.Contest.Again()})
	case ui.Pressed(msg, k.Bot):
		return p.askBots()
	}
	return p.change(msg)
}

func (p *page) change(msg tea.KeyPressMsg) tea.Cmd {
	switch k := &p.keys; {
	case ui.Pressed(msg, k.Ready):
		p.watching = false
		ready := !p.Entrant().GetReady()
		return p.call(false, func(ctx context.Context, s ui.Server) error {
			return s.JoinRace(ctx, &pb.JoinChallengeRequest{ChallengeId: p.ID, Ready: ready})
		})
	case ui.Pressed(msg, k.Start):
		return p.call(false, func(ctx context.Context, s ui.Server) error { return s.StartRace(ctx, p.ID) })
	case ui.Pressed(msg, k.NoBot):
		game := p.lastBot()
		return p.call(false, func(ctx context.Context, s ui.Server) error {
			return s.LeaveRace(ctx, &pb.LeaveChallengeRequest{ChallengeId: p.ID, GameId: game})
		})
	}
	return nil
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
	p.question = &widget.Question{
		Title: "Leave the race?", Text: "It has not started yet. It can take place without you.", Yes: "leave", No: "stay",
		Then: func() tea.Cmd {
			return p.call(true, func(ctx context.Context, s ui.Server) error {
				return s.LeaveRace(ctx, &pb.LeaveChallengeRequest{ChallengeId: p.ID})
			})
		},
	}
	return nil
}

func (p *page) askBots() tea.Cmd {
	return p.tasks.Do(func(ctx context.Context) tea.Msg {
		variants, err := p.env.Server.Variants(ctx)
		return botsMsg{variants, err}
	})
}

// chooseBot lets the user choose one of the variant's bots.
func (p *page) chooseBot(msg botsMsg) {
	if msg.err != nil {
		p.problem = ui.Explain(msg.err, ui.SameKey)
		return
	}
	for _, v := range msg.variants {
		if v.GetId() == p.GetVariant() && len(v.GetBots()) > 0 {
			p.bots = v.GetBots()
			return
		}
	}
	p.problem = "There is no bot for " + client.CleanText(p.GetVariant(), widget.NameLimit) + "."
}

// chosen handles a key while the user is choosing a bot.
func (p *page) chosen(msg tea.KeyPressMsg) tea.Cmd {
	bots := p.bots
	p.bots = nil
	i, err := strconv.Atoi(msg.Text)
	if err != nil || i < 1 || i > len(bots) {
		return nil
	}
	return p.call(false, func(ctx context.Context, s ui.Server) error {
		return s.JoinRace(ctx, &pb.JoinChallengeRequest{ChallengeId: p.ID, Bot: bots[i-1]})
	})
}
