package play

import (
	"context"
	"errors"

	tea "charm.land/bubbletea/v2"

	"github.com/gridstand/gridstand/client"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/gamestate"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/ui"
	"github.com/gridstand/gridstand/internal/describe"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// resign returns the command that ends the game. Its points are kept.
func (p *page) resign(next bool) func() tea.Cmd {
	return func() tea.Cmd {
		server, game := p.env.Server, p.Game
		p.Say("Giving up …")
		return ui.Call(p.Tasks, func(ctx context.Context) (*pb.Event, error) { return server.Resign(ctx, game) },
			func(e *pb.Event, err error) tea.Cmd { return p.resigned(next, e, err) })
	}
}

// resigned handles the reply to a resignation. If next is set, it then opens a new game, even if the old
// one turns out to be over or gone.
func (p *page) resigned(next bool, e *pb.Event, err error) tea.Cmd {
	p.Say("")
	switch {
	case err == nil:
		p.Apply(e)
	case errors.Is(err, client.ErrGameOver):
	case next && (errors.Is(err, client.ErrNotSeated) ||
		errors.Is(err, client.ErrGameNotFound) || errors.Is(err, client.ErrGameDamaged)):
	default:
		p.fail(err)
		return nil
	}
	if next {
		return p.create()
	}
	return p.changed(true)
}

// create opens a game like this one in its place.
func (p *page) create() tea.Cmd {
	return ui.Replace(p.Tasks, ui.Route{New: &ui.NewGame{Variant: p.Game.GetVariant(), Options: p.nextOptions(), After: p.Game.Game}})
}

const cancel = "cancel" // label of the key n

// unrank asks for confirmation before then makes a ranked game unranked.
func (p *page) unrank(title, yes string, then func() tea.Cmd) tea.Cmd {
	if !p.Game.GetRanked() {
		return then()
	}
	return p.Ask(&ui.Question{Title: title, Text: "This makes the game unranked.", Choices: ui.Yes(yes, then), No: cancel})
}

// wantNew asks for confirmation before the user gives up the game. At a table at which the user has
// already done so, it opens a new game.
func (p *page) wantNew() tea.Cmd {
	if p.Game.GetSeats()[p.seat()].GetResigned() {
		return p.create()
	}
	p.giveUp = p.askNew()
	return p.Ask(p.giveUp)
}

// askNew returns the question whether to give up the game. Unless it is an attempt, a new game can
// follow.
func (p *page) askNew() *ui.Question {
	if p.contest != nil {
		title := "Give up this attempt?"
		if p.contest.Race() {
			title = "Give up the race?"
		}
		return &ui.Question{Title: title, Text: describe.Kept(p.Score()), Choices: ui.Yes("give up", p.resign(false)), No: "play on"}
	}
	text := "Its " + describe.Comma(p.Score()) + " points count."
	switch {
	case gamestate.Waits(p.Game.Game):
		text = "It has not started yet."
	case !p.alone():
		text = "The other players continue without you."
	case len(p.Game.GetSeats()) > 1:
		text = "The bots stop playing, and your cells do not count."
	case !p.Game.GetRanked():
		text = "It is not ranked."
	case p.Score() == 0:
		text = "It has no points yet."
	}
	// Resign first, so that the score counts.
	choices := append(ui.Yes("give up, new game", p.resign(true)), ui.On("g G", "g", "give up", true, p.resign(false)))
	return &ui.Question{Title: "Give up this game?", Text: text, Choices: choices, No: cancel}
}
