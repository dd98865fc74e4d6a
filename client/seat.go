package client

import (
	"context"
	"errors"
	"fmt"
	"slices"

	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// Move is a move in a game, made with Slide or Jump.
type Move struct {
	direction pb.Direction
	cell      *pb.Cell
}

// Slide returns a 2048 move in the given direction.
func Slide(d pb.Direction) Move { return Move{direction: d} }

// Jump returns a Tribolo move to the given cell.
func Jump(to *pb.Cell) Move { return Move{cell: to} }

// Seat is the account's seat in a game. Its calls take effect at most once, even if
// replies are lost. It does not keep the state of the game: each call names the version
// that the player saw. Its methods are safe for concurrent use.
type Seat struct {
	client *Client
	gameID string
	index  int32
}

// noSeat is the index of a Seat if the account has no seat in the game.
const noSeat = -1

// Seat returns the account's seat in a game, or the one with the lowest index if it has
// several. It does not call the server. If the account has no seat, the first move
// returns an error.
func (c *Client) Seat(game Game) *Seat {
	return c.SeatAt(game.GetId(), int32(slices.IndexFunc(game.GetSeats(), c.owns))) // -1 is noSeat
}

// SeatAt returns the seat with the given index, for an account with several seats in a
// game.
func (c *Client) SeatAt(gameID string, index int32) *Seat {
	return &Seat{client: c, gameID: gameID, index: index}
}

// Index returns the seat's index in the game, or -1 if the account has no seat.
func (s *Seat) Index() int32 { return s.index }

// GameID returns the id of the game.
func (s *Seat) GameID() string { return s.gameID }

// Move makes a move at the version that the player saw and returns its event. If the
// account has several seats, the server makes it in the one whose turn it is. byBot
// declares that a program chose the move; the game is then no longer ranked.
//
// The move takes effect at most once. If a reply is lost, or if the server or its store is
// unavailable, or the server asks the client to wait, the call is repeated with increasing
// delays until ctx is done or the client is closed. The error then also matches ctx.Err()
// and, unless the server refused every try with ErrRateLimited, ErrUnsettled. An internal
// error matches ErrUnsettled, too, and so does a refusal of a repeated call that does not
// tell whether an earlier try took effect, such as ErrBadToken. Any other error except
// ErrBadStream means that the move did not take effect: ErrVersionConflict if the game has
// moved on, ErrIllegalMove, ErrNotYourTurn, ErrGameOver, ErrGameNotStarted, ErrGameTooLong
// or ErrNotSeated.
func (s *Seat) Move(ctx context.Context, version int32, m Move, byBot bool) (*pb.Event, error) {
	request := &pb.MoveRequest{GameId: s.gameID, Version: version, ByBot: byBot}
	if m.cell != nil {
		request.Move = &pb.MoveRequest_Cell{Cell: m.cell}
	} else {
		request.Move = &pb.MoveRequest_Direction{Direction: m.direction}
	}
	response, err := retry(ctx, s.client, 0, s.client.Games.Move, request)
	return s.next(response.GetEvent(), version, err)
}

// Undo takes back moves at the version that the player saw, in a game without other
// accounts. If to is not nil, it restores version *to; otherwise it restores the version
// before the player's last move that has not been undone. It returns the event and is
// retried like Move. The error is ErrUndoNotAllowed if there is nothing to undo.
func (s *Seat) Undo(ctx context.Context, version int32, to *int32) (*pb.Event, error) {
	request := &pb.UndoRequest{GameId: s.gameID, Version: version, ToVersion: to}
	response, err := retry(ctx, s.client, 0, s.client.Games.Undo, request)
	return s.next(response.GetEvent(), version, err)
}

// next returns the event of a call at the given version: err if the call failed, or an
// ErrBadStream if it cannot be the result.
func (s *Seat) next(event *pb.Event, version int32, err error) (*pb.Event, error) {
	if err == nil {
		err = checkEvent(event, s.gameID)
	}
	if err != nil {
		return nil, err
	}
	if event.GetVersion() != version+1 {
		return nil, fmt.Errorf("%w: a call at version %d became version %d", ErrBadStream, version, event.GetVersion())
	}
	return event, nil
}

// Resign gives up the seat, regardless of the game's version, and returns the event. If
// the account has no seat but created the game, and the game is still waiting for
// players, Resign cancels it. The call is retried like Move.
func (s *Seat) Resign(ctx context.Context) (*pb.Event, error) {
	request := &pb.ResignRequest{GameId: s.gameID}
	if s.index != noSeat {
		// A retry without the seat would give up the account's next seat.
		request.Seat = &s.index
	}
	response, err := retry(ctx, s.client, 0, s.client.Games.Resign, request)
	if err != nil {
		return nil, err
	}
	return response.GetEvent(), checkEvent(response.GetEvent(), s.gameID)
}

// Play lets a bot play the rest of a game and returns the game when it is over. Whenever
// it is the account's turn, in any of its seats, Play calls choose and makes the move,
// declared as a program's move. Between turns, it watches the game. If the game moves on
// before the move arrives, Play calls choose again with the newer game. If the server has
// no newer game, Play waits before it tries again. If the seat timed out, Play takes it
// back from its stand-in.
//
// The error comes from choose or Client.Game, or is ErrNotSeated or a permanent error of
// Seat.Move, Client.Join or Watch.Next. Play then returns the newest known game.
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
			if err := follow(ctx, watch, &game); err != nil {
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

// playTurn makes a move for one of the account's seats, or takes the seat back from its
// stand-in. If the game has moved on, it only fetches the newer version.
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
func follow(ctx context.Context, watch *Watch, game *Game) error {
	update, err := watch.Next()
	if err != nil {
		return err
	}
	if c := update.Connection; c.State == Reconnecting {
		onRetry(ctx, c.Attempt, c.Delay, c.Err)
	}
	game.Update(update)
	return nil
}
