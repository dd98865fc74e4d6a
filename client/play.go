package client

import (
	"context"
	"errors"
	"fmt"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"

	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// GameOptions are what a new game may have beside its variant. The zero value
// is a public game with the variant's usual seats and no clock.
type GameOptions struct {
	// Seats as in CreateGameRequest; nil for the usual ones.
	Seats []*pb.SeatRequest
	// Private keeps the game out of lists and off the leaderboard.
	Private bool
	// TurnLimit is the time for a move; 0 for none.
	TurnLimit time.Duration
	// RequestID makes the same call later find its own game; empty for a new
	// one (see NewSecret).
	RequestID string
}

// NewGame creates a game. A lost reply does not make a second one.
func (c *Client) NewGame(ctx context.Context, variant string, opts GameOptions) (*pb.Game, error) {
	request := &pb.CreateGameRequest{
		Variant: variant, Seats: opts.Seats, Private: opts.Private, RequestId: opts.RequestID,
	}
	if opts.TurnLimit != 0 {
		request.TurnLimit = durationpb.New(opts.TurnLimit)
	}
	if request.RequestId == "" {
		request.RequestId = NewSecret()
	}
	response, err := retry(ctx, c, createTries, nil, func(ctx context.Context) (*pb.CreateGameResponse, error) {
		return c.Games.CreateGame(ctx, request)
	})
	if err != nil {
		return nil, err
	}
	if err := checkGame(response.GetGame(), response.GetGame().GetId()); err != nil {
		return nil, err
	}
	return response.GetGame(), nil
}

// Move is what a player asks for: make one with Slide or Jump.
type Move struct {
	direction pb.Direction
	cell      *pb.Cell
}

// Slide is a move of 2048.
func Slide(d pb.Direction) Move { return Move{direction: d} }

// Jump is a move of Tribolo, to a cell.
func Jump(to *pb.Cell) Move { return Move{cell: to} }

// Seat is the client's own seat in a game. Its methods are safe for concurrent
// use.
type Seat struct {
	// OnRetry, where set, is told before each wait for another try of a call,
	// with the number of tries so far, the wait and the error. Set it before
	// the first call; it is called by whoever made the call.
	OnRetry func(attempt int, wait time.Duration, err error)

	client *Client
	gameID string
	index  int32
}

// noSeat is the index of a seat that is none.
const noSeat = -1

// Seat returns the client's seat in a game, the lowest where it has several.
// Nothing is asked of the server: where the account has no seat, the server
// will say so at the first move.
func (c *Client) Seat(game *pb.Game) *Seat {
	s := &Seat{client: c, gameID: game.GetId(), index: noSeat}
	me := c.PlayerID()
	for _, seat := range game.GetSeats() {
		if me != "" && seat.GetPlayer().GetId() == me {
			s.index = seat.GetIndex()
			break
		}
	}
	return s
}

// Index is the seat's place in the game, -1 where the account has none.
func (s *Seat) Index() int32 { return s.index }

// GameID is the id of the game.
func (s *Seat) GameID() string { return s.gameID }

// Move makes a move at the version that the player saw and returns the event
// that it became. byBot declares that a program chose it.
//
// It takes effect at most once. Where a reply is lost, the server or its store
// is away or asks to wait, the same call is made again with growing waits until
// ctx ends; the error then is ErrUnsettled as well. Every other error of a
// server means that the move did not take effect.
func (s *Seat) Move(ctx context.Context, version int32, m Move, byBot bool) (*pb.Event, error) {
	request := &pb.MoveRequest{GameId: s.gameID, Version: version, ByBot: byBot}
	if m.cell != nil {
		request.Move = &pb.MoveRequest_Cell{Cell: m.cell}
	} else {
		request.Move = &pb.MoveRequest_Direction{Direction: m.direction}
	}
	response, err := retry(ctx, s.client, 0, s.OnRetry, func(ctx context.Context) (*pb.MoveResponse, error) {
		return s.client.Games.Move(ctx, request)
	})
	if err != nil {
		return nil, err
	}
	return s.next(response.GetEvent(), version)
}

// next checks that an event is the one that a call at a version became.
func (s *Seat) next(event *pb.Event, version int32) (*pb.Event, error) {
	if err := checkEvent(event, s.gameID); err != nil {
		return nil, err
	}
	if event.GetVersion() != version+1 {
		return nil, fmt.Errorf("%w: what was asked for at version %d became version %d", ErrBadStream, version, event.GetVersion())
	}
	return event, nil
}

// Resign gives the seat up, at whatever version the game has; where the account
// has none, it calls off a game of its own that waits for players. It is
// repeated as Move is.
func (s *Seat) Resign(ctx context.Context) (*pb.Event, error) {
	request := &pb.ResignRequest{GameId: s.gameID}
	if s.index != noSeat {
		// Named, since a repeat without it would give up the account's next
		// seat.
		request.Seat = &s.index
	}
	response, err := retry(ctx, s.client, 0, s.OnRetry, func(ctx context.Context) (*pb.ResignResponse, error) {
		return s.client.Games.Resign(ctx, request)
	})
	if err != nil {
		return nil, err
	}
	return response.GetEvent(), checkEvent(response.GetEvent(), s.gameID)
}

// Resign ends the account's game, or its part in it: it gives up all its seats,
// as Seat.Resign does with one, and returns the last event that came of that.
func (c *Client) Resign(ctx context.Context, game *pb.Game) (*pb.Event, error) {
	var last *pb.Event
	for _, seat := range game.GetSeats() {
		if c.PlayerID() == "" || seat.GetPlayer().GetId() != c.PlayerID() {
			continue
		}
		e, err := c.SeatAt(game, seat.GetIndex()).Resign(ctx)
		switch {
		case errors.Is(err, ErrGameOver) && last != nil:
			return last, nil
		case err != nil:
			return nil, err
		}
		if last = e; e.GetResult() != nil {
			return e, nil
		}
	}
	if last != nil {
		return last, nil
	}
	return c.Seat(game).Resign(ctx)
}
