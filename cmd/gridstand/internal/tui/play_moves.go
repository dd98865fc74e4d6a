package tui

import (
	"context"
	"errors"
	"slices"

	tea "charm.land/bubbletea/v2"

	"github.com/gridstand/gridstand/client"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// push queues a move.
func (p *Play) push(d pb.Direction) tea.Cmd {
	if p.over() || p.starting {
		return nil
	}
	if len(p.queue) >= queueLimit {
		p.dropped = true
		return nil
	}
	p.queue = append(p.queue, d)
	return p.send()
}

// send makes the first queued move that is legal, unless one is under way. What
// is to be taken back comes first.
func (p *Play) send() tea.Cmd {
	if p.moving != none || p.undoing != nil && p.undoing.sent {
		return nil
	}
	if p.undoing != nil && !p.over() {
		return p.sendUndo()
	}
	for len(p.queue) > 0 && !p.legal(p.queue[0]) {
		p.queue = p.queue[1:]
	}
	if len(p.queue) == 0 {
		p.dropped = false
		return nil
	}
	p.moving, p.queue, p.movingSince = p.queue[0], p.queue[1:], p.now
	game, version, d := p.opened, p.game.GetVersion(), p.moving
	return p.tasks.do(func(ctx context.Context) tea.Msg {
		e, err := p.server.Slide(ctx, game, version, d, false)
		return movedMsg{gameID: game.GetId(), event: e, err: err}
	})
}

// moved takes in the answer to a move.
func (p *Play) moved(msg movedMsg) tea.Cmd {
	switch {
	case msg.err == nil:
		p.moving, p.problem, p.notice = none, "", ""
		return tea.Batch(p.changed(p.apply(msg.event)), p.send())
	case errors.Is(msg.err, client.ErrIllegalMove):
		p.moving = none
		return p.send()
	case errors.Is(msg.err, client.ErrVersionConflict), errors.Is(msg.err, client.ErrGameOver):
		// Somebody was quicker, with this player's account. The move is made on
		// the board as it is by then, and stays under way until then.
		return fetch(p.tasks, p.server, msg.gameID)
	default:
		p.moving, p.queue = none, nil
		p.fail(msg.err)
		return nil
	}
}

// fetched takes in the game after a conflict and goes on.
func (p *Play) fetched(msg fetchedMsg) tea.Cmd {
	p.queue = slices.Insert(p.queue, 0, p.moving)
	p.moving = none
	if msg.err != nil {
		p.queue = nil
		p.fail(msg.err)
		return nil
	}
	return tea.Batch(p.changed(p.replace(msg.game)), p.send())
}
