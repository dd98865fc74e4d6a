package tui

import (
	"context"
	"errors"

	tea "charm.land/bubbletea/v2"

	"github.com/gridstand/gridstand/client"
)

// another begins a new game, after a question when one is running.
func (p *Play) another() tea.Cmd {
	switch {
	case p.starting:
		return nil
	case p.over():
		return p.create()
	default:
		p.question = askNew
		return nil
	}
}

// giveUp ends the running game, so that its score counts.
func (p *Play) giveUp() tea.Cmd {
	if p.over() { // meanwhile
		return p.create()
	}
	p.starting = true
	game := p.opened
	return p.tasks.do(func(ctx context.Context) tea.Msg {
		e, err := p.server.Resign(ctx, game)
		return resignedMsg{gameID: game.GetId(), event: e, err: err}
	})
}

// resigned takes in the end of a game that was given up. One that cannot be
// ended is left as it is.
func (p *Play) resigned(msg resignedMsg) tea.Cmd {
	switch {
	case msg.err == nil:
		p.apply(msg.event)
	case errors.Is(msg.err, client.ErrGameOver), errors.Is(msg.err, client.ErrNotSeated),
		errors.Is(msg.err, client.ErrGameNotFound), errors.Is(msg.err, client.ErrGameDamaged):
	default:
		p.starting = false
		p.fail(msg.err)
		return nil
	}
	return p.create()
}

// create asks for a new game of the same variant.
func (p *Play) create() tea.Cmd {
	p.starting = true
	variant, options := p.opened.GetVariant(), p.options
	return p.tasks.do(func(ctx context.Context) tea.Msg {
		g, err := p.server.NewGame(ctx, variant, options)
		return openedMsg{game: g, err: err}
	})
}

// begin shows the new game.
func (p *Play) begin(msg openedMsg) tea.Cmd {
	if msg.err == nil && p.foreign(msg.game.GetPosition()) {
		msg.err = client.ErrBadStream
	}
	if msg.err != nil {
		p.starting = false
		p.fail(msg.err)
		return nil
	}
	var notice string
	if p.over() {
		notice = "The game before ended with " + comma(p.score()) + " points."
	}
	p.open(msg.game)
	p.notice = notice
	return p.follow()
}
