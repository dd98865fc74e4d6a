package tui

import (
	"context"
	"errors"
	"slices"

	tea "charm.land/bubbletea/v2"

	"github.com/gridstand/gridstand/client"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// act makes a call, unless one is under way or the game is about to be left.
func (t *Tribolo) act(call func(ctx context.Context) (*pb.Event, *pb.Game, error)) tea.Cmd {
	if t.acting || t.starting {
		return nil
	}
	t.acting, t.actingSince, t.notice = true, t.now, ""
	id := t.opened.GetId()
	return t.tasks.do(func(ctx context.Context) tea.Msg {
		e, g, err := call(ctx)
		return actedMsg{gameID: id, event: e, game: g, err: err}
	})
}

// leap jumps to the cursor, if that is legal.
func (t *Tribolo) leap() tea.Cmd {
	to := &pb.Cell{X: t.cursor.X, Y: t.cursor.Y}
	switch {
	case t.over():
		return nil
	case !t.mine():
		t.notice = "It is not your turn."
		return nil
	case moveTo(t.tribolo(), to) == nil:
		t.notice = "No jump leads to " + CellName(to) + ". ? shows where one does."
		return nil
	}
	game, version, before := t.opened, t.game.GetVersion(), t.game.GetPosition()
	return t.act(func(ctx context.Context) (*pb.Event, *pb.Game, error) {
		e, err := t.server.Jump(ctx, game, version, to)
		if errors.Is(err, client.ErrVersionConflict) {
			// What happened may have left the board alone, as time does that is
			// given back.
			if now, problem := t.server.Game(ctx, game.GetId()); problem == nil && sameTurn(before, now.GetPosition()) {
				e, err = t.server.Jump(ctx, game, now.GetVersion(), to)
			}
		}
		return e, nil, err
	})
}

// sameTurn reports whether the same seat is to move on the same board.
func sameTurn(a, b *pb.Position) bool {
	return a.Turn != nil && b.Turn != nil && a.GetTurn() == b.GetTurn() &&
		slices.Equal(a.GetTribolo().GetCells(), b.GetTribolo().GetCells())
}

// undo takes moves back, to a version, or the last one if that is nil.
func (t *Tribolo) undo(to *int32) tea.Cmd {
	if t.over() || !t.alone() {
		return nil
	}
	game, version := t.opened, t.game.GetVersion()
	if to != nil && *to >= version {
		t.notice = "This is the beginning."
		return nil
	}
	return t.act(func(ctx context.Context) (*pb.Event, *pb.Game, error) {
		e, err := t.server.Undo(ctx, game, version, to)
		return e, nil, err
	})
}

// takeBack takes the player's seat back from its stand-in.
func (t *Tribolo) takeBack() tea.Cmd {
	id, seat := t.opened.GetId(), t.held().GetIndex()
	return t.act(func(ctx context.Context) (*pb.Event, *pb.Game, error) {
		g, err := t.server.Join(ctx, id, &seat)
		return nil, g, err
	})
}

// acted takes in the answer to a call.
func (t *Tribolo) acted(msg actedMsg) tea.Cmd {
	t.acting = false
	switch {
	case msg.err == nil && msg.game != nil:
		t.problem = ""
		t.replace(msg.game)
		return t.changed()
	case msg.err == nil:
		t.problem = ""
		changed := t.apply(msg.event)
		if changed && msg.event.GetUndone() != nil {
			return tea.Batch(t.changed(), fetch(t.tasks, t.server, msg.gameID))
		}
		return t.changed()
	case errors.Is(msg.err, client.ErrVersionConflict), errors.Is(msg.err, client.ErrGameOver),
		errors.Is(msg.err, client.ErrNotYourTurn), errors.Is(msg.err, client.ErrIllegalMove):
		// Something happened meanwhile. What the player wanted he wanted on
		// another board.
		t.notice = "The game has changed since."
		return fetch(t.tasks, t.server, msg.gameID)
	case errors.Is(msg.err, client.ErrUndoNotAllowed):
		t.notice = "There is no move to undo."
		return nil
	default:
		t.fail(msg.err)
		return nil
	}
}

func (t *Tribolo) fetched(msg fetchedMsg) tea.Cmd {
	if msg.err != nil {
		t.fail(msg.err)
		return nil
	}
	t.replace(msg.game)
	return t.changed()
}

// sameSeats adds to the options of a new game the same seats: the player's and the
// bots' as they are, the others open.
func (t *Tribolo) sameSeats(options client.GameOptions) client.GameOptions {
	options.Private, options.TurnLimit = t.game.GetPrivate(), t.game.GetTurnLimit().AsDuration()
	options.Seats = nil
	for _, seat := range t.opened.GetSeats() {
		request := &pb.SeatRequest{Occupant: &pb.SeatRequest_Open{Open: &pb.Open{}}}
		switch {
		case t.own(seat):
			request.Occupant = &pb.SeatRequest_Caller{Caller: &pb.Caller{}}
		case seat.GetBot() != "":
			request.Occupant = &pb.SeatRequest_Bot{Bot: seat.GetBot()}
		}
		options.Seats = append(options.Seats, request)
	}
	return options
}

// begin shows the new game.
func (t *Tribolo) begin(msg openedMsg) tea.Cmd {
	if !t.created(msg) {
		return nil
	}
	t.open(msg.game)
	return t.follow()
}
