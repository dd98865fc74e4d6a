package client

import (
	"context"
	"errors"
	"fmt"
	"time"

	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// Move is a move that a player asks for: make it with Slide or Jump.
type Move struct {
	direction pb.Direction
	cell      *pb.Cell
}

// Slide is a move of 2048.
func Slide(d pb.Direction) Move { return Move{direction: d} }

// Jump is a move of Tribolo, to a cell.
func Jump(to *pb.Cell) Move { return Move{cell: to} }

// Seat is the account's seat in a game. Its calls take effect once, even if replies
// are lost. It keeps no state of the game: a call names the version that the player
// saw. Its methods are safe for concurrent use.
type Seat struct {
	// OnRetry, if set, is called before each wait for another try of a call, with
	// the number of tries so far, the wait and the error. It runs in the
	// goroutine of the call. Set it before the first call.
	OnRetry func(attempt int, wait time.Duration, err error)

	client *Client
	gameID string
	index  int32
}

// noSeat is the index of a Seat of an account that has none.
const noSeat = -1

// Seat returns the account's seat in a game, the lowest if it has several. It
// asks the server nothing: if the account has no seat, the server says so at the
// first move.
func (c *Client) Seat(game Game) *Seat {
	for _, seat := range game.GetSeats() {
		if c.owns(seat) {
			return c.SeatAt(game.GetId(), seat.GetIndex())
		}
	}
	return c.SeatAt(game.GetId(), noSeat)
}

// SeatAt returns a seat by its index, for an account that has several in a game.
func (c *Client) SeatAt(gameID string, index int32) *Seat {
	return &Seat{client: c, gameID: gameID, index: index}
}

// Index is the seat's index in the game, -1 if the account has none.
func (s *Seat) Index() int32 { return s.index }

// GameID is the id of the game.
func (s *Seat) GameID() string { return s.gameID }

// Move makes a move at the version that the player saw and returns its event.
// byBot declares that a program chose it; the game is not ranked from then on.
//
// It takes effect at most once. If a reply is lost, or the server or its store is
// unavailable or asks to wait, the same call is made again with growing waits
// until ctx ends or the client is closed; the error then is also ErrUnsettled, and
// ctx's. Every other error except ErrBadStream means that the move did not take
// effect: ErrVersionConflict if the game has moved on,
// ErrIllegalMove, ErrNotYourTurn, ErrGameOver, ErrGameNotStarted or ErrNotSeated.
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

// Undo takes moves back, in a game that no other account plays, at the version
// that the player saw: to an earlier version, or to the one before the player's
// last move that still stands if that is nil. It returns the event and is repeated
// like Move. The error is ErrUndoNotAllowed if there is nothing to take back.
func (s *Seat) Undo(ctx context.Context, version int32, to *int32) (*pb.Event, error) {
	request := &pb.UndoRequest{GameId: s.gameID, Version: version, ToVersion: to}
	response, err := retry(ctx, s.client, 0, s.OnRetry, func(ctx context.Context) (*pb.UndoResponse, error) {
		return s.client.Games.Undo(ctx, request)
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
		return nil, fmt.Errorf("%w: a call at version %d became version %d", ErrBadStream, version, event.GetVersion())
	}
	return event, nil
}

// Resign gives the seat up, at whatever version the game has, and returns the
// event. An account without a seat calls off its own game that still waits for
// players. It is repeated like Move.
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

// Play lets a bot play from game on and returns the game when it is over. Each
// time that it is the account's turn, in any of its seats, it calls choose and
// makes the move, declared as a program's. In between it watches the game. If the
// game moves on before the move arrives, choose is called again, with the newer
// game. If the server has no newer one, Play waits before it tries again. A seat that
// timed out is taken back from its stand-in.
//
// The error is that of choose, ErrNotSeated, or one of Seat.Move, Client.Join and
// Watch.Next that trying again does not help; the game is then the newest known.
func (s *Seat) Play(ctx context.Context, game Game, choose func(context.Context, Game) (Move, error)) (Game, error) {
	if s.index == noSeat {
		return game, ErrNotSeated
	}
	watch := s.client.Watch(ctx, WatchOptions{GameID: s.gameID})
	defer watch.Close()
	pace := s.client.newBackOff()
	for !game.Over() {
		turn := game.Turn()
		if !s.client.owns(turn) {
			if err := s.follow(watch, &game); err != nil {
				return game, err
			}
			continue
		}
		before := game.GetVersion()
		if err := s.playTurn(ctx, &game, turn, choose); err != nil {
			return game, err
		}
		if game.GetVersion() > before {
			pace.Reset()
		} else if err := s.client.wait(ctx, pace.NextBackOff()); err != nil {
			return game, err
		}
	}
	return game, nil
}

// playTurn makes the move of a seat of the account, or takes the seat back from its
// stand-in. If the game has moved on, it only fetches the newer one.
func (s *Seat) playTurn(
	ctx context.Context, game *Game, turn *pb.Seat, choose func(context.Context, Game) (Move, error),
) error {
	var current Game
	var err error
	if turn.GetStandIn() != "" {
		current, err = s.client.Join(ctx, s.gameID, &turn.Index)
	} else {
		move, refused := choose(ctx, *game)
		if refused != nil {
			return refused
		}
		var event *pb.Event
		if event, err = s.Move(ctx, game.GetVersion(), move, true); err == nil {
			game.Apply(event)
			return nil
		}
	}
	if errors.Is(err, ErrVersionConflict) || errors.Is(err, ErrNotYourTurn) || errors.Is(err, ErrGameOver) {
		current, err = s.client.Game(ctx, s.gameID)
	}
	if err == nil {
		game.Replace(current.Game)
	}
	return err
}

// follow waits for the next update of the game and applies it.
func (s *Seat) follow(watch *Watch, game *Game) error {
	update, err := watch.Next()
	if err != nil {
		return err
	}
	if c := update.Connection; c.State == Reconnecting && s.OnRetry != nil {
		s.OnRetry(c.Attempt, c.Delay, c.Err)
	}
	game.Update(update)
	return nil
}
