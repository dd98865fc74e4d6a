package cli

import (
	"errors"
	"io"
	"strings"
	"time"

	"github.com/gridstand/gridstand/client"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/gamestate"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/ui"
	"github.com/gridstand/gridstand/internal/describe"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// each calls do with every update of a stream until it ends.
func each[T any](s ui.Stream[T], do func(T) error) error {
	for {
		u, err := s.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err == nil {
			err = do(u)
		}
		if err != nil {
			return err
		}
	}
}

// noteRetry reports that a call is being retried.
func (p *program) noteRetry(wait time.Duration, err error) {
	what := err.Error()
	if errors.Is(err, client.ErrUnreachable) {
		what = "the server does not answer (" + what + ")"
	}
	p.notef("%s; retrying in %.0f s", what, max(wait.Seconds(), 1))
}

// printUpdate writes an update of g and applies it to g.
func (p *program) printUpdate(g *client.Game, u client.Update) error {
	var message pb.WatchResponse
	switch {
	case u.Game != nil:
		message.Update = &pb.WatchResponse_Game{Game: u.Game}
	case u.Event != nil:
		message.Update = &pb.WatchResponse_Event{Event: u.Event}
	case u.Audience != nil:
		message.Update, message.Reactions = &pb.WatchResponse_Audience{Audience: *u.Audience}, u.Reactions
	default:
		return nil
	}
	if p.flags.json {
		return p.printMessage(&message)
	}
	g.Update(u)
	what := ""
	switch {
	case u.Audience != nil:
		return nil
	case u.Event != nil:
		what = action(g.Game, u.Event)
	}
	if g.GetResult() != nil {
		title, reason, _ := describe.Outcome(g.Game, -1, gamestate.SeatName)
		what = strings.TrimSpace(what + "  " + title + ": " + reason)
	}
	if err := p.printGame(g.Game, what); err != nil {
		return err
	}
	return p.printf("\n")
}

// asOf returns g as of the given version, so that later events can be applied. It contains
// the variant and the players, but no position.
func asOf(g client.Game, version int32) client.Game {
	return client.Game{Game: &pb.Game{Id: g.GetId(), Variant: g.GetVariant(), Seats: g.GetSeats(), Version: version}}
}

// action describes an event in a few words.
func action(g *pb.Game, e *pb.Event) string {
	if e.GetCreated() != nil {
		return "created"
	}
	text := describe.Happened(g, e, gamestate.SeatName)
	if n := e.GetMoved().GetGained(); n > 0 {
		text += "  +" + describe.Comma(n)
	}
	if n := len(e.GetMoved().GetTaken()); n > 0 {
		text += "  takes " + describe.Comma(int32(n))
	}
	return text
}
