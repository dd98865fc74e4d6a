package tui

import (
	"context"
	"errors"

	tea "charm.land/bubbletea/v2"

	"github.com/gridstand/gridstand/client"
)

// wantUndo takes the last move back. A game that counts no longer does then,
// so that is asked first.
func (p *Play) wantUndo() tea.Cmd {
	switch {
	case p.over() || p.starting:
		return nil
	case p.game.GetPosition().GetMoveCount() == 0:
		p.notice = "There is no move to undo."
		return nil
	case p.game.GetRanked():
		p.question = askUndo
		return nil
	default:
		return p.undo(nil)
	}
}

// undo goes back to a version, or before the last move if that is nil, when the
// move under way is made. Keys that wait are forgotten.
func (p *Play) undo(to *int32) tea.Cmd {
	p.queue, p.undoing = nil, &undoing{to: to}
	return p.send()
}

// undoing is a request to take moves back.
type undoing struct {
	to   *int32
	sent bool
}

// sendUndo asks the server for what the player wants back.
func (p *Play) sendUndo() tea.Cmd {
	p.undoing.sent, p.movingSince = true, p.now
	game, version, to := p.opened, p.game.GetVersion(), p.undoing.to
	return p.tasks.do(func(ctx context.Context) tea.Msg {
		e, err := p.server.Undo(ctx, game, version, to)
		if errors.Is(err, client.ErrVersionConflict) || errors.Is(err, client.ErrGameOver) {
			g, err := p.server.Game(ctx, game.GetId())
			return actedMsg{gameID: game.GetId(), game: g, err: err}
		}
		return actedMsg{gameID: game.GetId(), event: e, err: err}
	})
}

// undone takes in the answer.
func (p *Play) undone(msg actedMsg) tea.Cmd {
	p.undoing = nil
	changed := false
	switch {
	case errors.Is(msg.err, client.ErrUndoNotAllowed):
		p.notice = "There is no move to undo."
	case msg.err != nil:
		p.fail(msg.err)
	case msg.game != nil:
		p.notice = "The game has changed since."
		changed = p.replace(msg.game)
	default:
		p.problem, p.notice = "", ""
		changed = p.apply(msg.event)
	}
	return tea.Batch(p.changed(changed), p.send())
}
