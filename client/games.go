package client

import (
	"context"
	"errors"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"

	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// GameOptions say what a new game is like, besides its variant. The zero value
// is a public game with the variant's usual seats and no clock.
type GameOptions struct {
	// Seats as in CreateGameRequest; nil for the usual ones.
	Seats []*pb.SeatRequest
	// Private keeps the game out of lists and off the leaderboard.
	Private bool
	// TurnLimit is the time for a move; 0 for none.
	TurnLimit time.Duration
	// RequestID makes a repeated NewGame return the game of the first one; empty
	// for a new game. Draw it with NewSecret.
	RequestID string
}

// NewGame creates a game. A lost reply does not create a second one.
//
// The errors are ErrVariantNotFound, ErrInvalid for options that the variant does
// not allow, ErrTooManyGames and ErrBadToken.
func (c *Client) NewGame(ctx context.Context, variant string, opts GameOptions) (Game, error) {
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
		return Game{}, err
	}
	return checkedGame(response.GetGame(), response.GetGame().GetId())
}

// Game returns a game as it is now. The error is ErrGameNotFound for an id that
// the server does not know.
func (c *Client) Game(ctx context.Context, gameID string) (Game, error) {
	response, err := c.Games.GetGame(ctx, &pb.GetGameRequest{GameId: gameID})
	if err != nil {
		return Game{}, err
	}
	return checkedGame(response.GetGame(), gameID)
}

// latestGames is how many of a player's latest games CurrentGame looks at.
const latestGames = 20

// CurrentGame returns the game that a player plays now, by the player's id: of the
// public games in which the player has a seat and that are being played, the one with
// the latest event. It looks at the player's 20 latest games, and returns false if it
// finds none. The game may be idle for long: see its update_time.
func (c *Client) CurrentGame(ctx context.Context, playerID string) (Game, bool, error) {
	response, err := c.Games.ListGames(ctx, &pb.ListGamesRequest{PlayerId: playerID, PageSize: latestGames})
	if err != nil {
		return Game{}, false, err
	}
	for _, game := range response.GetGames() {
		if game.GetStatus() != pb.GameStatus_GAME_STATUS_ACTIVE || game.GetPrivate() {
			continue
		}
		for _, seat := range game.GetSeats() {
			if seat.GetPlayer().GetId() == playerID && !seat.GetResigned() {
				g, err := checkedGame(game, game.GetId())
				return g, err == nil, err
			}
		}
	}
	return Game{}, false, nil
}

// Join takes a seat of a game, by its index, and returns the game with it. A nil
// seat is the account's own, taken back from a stand-in if one moves for it, else
// the first that is open. A seat that the account has already is no error. The
// call is repeated like Seat.Move.
//
// The errors are ErrSeatTaken, ErrGameOver, ErrGameNotFound and ErrTooManyGames.
func (c *Client) Join(ctx context.Context, gameID string, seat *int32) (Game, error) {
	request := &pb.JoinGameRequest{GameId: gameID, Seat: seat}
	response, err := retry(ctx, c, 0, nil, func(ctx context.Context) (*pb.JoinGameResponse, error) {
		return c.Games.JoinGame(ctx, request)
	})
	if err != nil {
		return Game{}, err
	}
	return checkedGame(response.GetGame(), gameID)
}

// Resign gives up all seats of the account in a game, one after the other, and
// returns the last event of that. After an error, seats may already have been given
// up. A game of the account that still waits for
// players is called off.
func (c *Client) Resign(ctx context.Context, game Game) (*pb.Event, error) {
	var last *pb.Event
	for _, seat := range game.GetSeats() {
		if !c.owns(seat) {
			continue
		}
		event, err := c.SeatAt(game.GetId(), seat.GetIndex()).Resign(ctx)
		switch {
		case errors.Is(err, ErrGameOver) && last != nil:
			return last, nil
		case err != nil:
			return nil, err
		}
		if last = event; event.GetResult() != nil {
			return event, nil
		}
	}
	if last != nil {
		return last, nil
	}
	return c.Seat(game).Resign(ctx)
}

// owns reports whether the account sits in a seat.
func (c *Client) owns(seat *pb.Seat) bool {
	me := c.PlayerID()
	return me != "" && seat.GetPlayer().GetId() == me
}
