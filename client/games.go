package client

import (
	"context"
	"errors"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"

	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// GameOptions are the settings of a new game apart from its variant. The zero value is a
// public game with the variant's default seats and no turn limit.
type GameOptions struct {
	// Seats are the seats, as in CreateGameRequest, or nil for the default seats.
	Seats []*pb.SeatRequest
	// Private keeps the game out of lists and off the leaderboard.
	Private bool
	// TurnLimit is the time limit for each move, or 0 for no limit.
	TurnLimit time.Duration
	// RequestID makes a repeated NewGame return the game that the first call created. If
	// it is empty, each call creates a new game. Use NewSecret to generate one.
	RequestID string
}

// NewGame creates a game. Even if a reply is lost, NewGame creates only one game.
//
// The errors are ErrVariantNotFound, ErrInvalid if the variant does not allow the
// options, and ErrBadToken.
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
	response, err := retry(ctx, c, createTries, c.Games.CreateGame, request)
	return checkedGame(response.GetGame(), response.GetGame().GetId(), err)
}

// Game returns the current state of a game. The error is ErrGameNotFound if the server
// does not know the id.
func (c *Client) Game(ctx context.Context, gameID string) (Game, error) {
	response, err := c.Games.GetGame(ctx, &pb.GetGameRequest{GameId: gameID})
	return checkedGame(response.GetGame(), gameID, err)
}

// latestGames is the number of a player's latest games that CurrentGame examines.
const latestGames = 20

// CurrentGame returns the game that a player is playing now: of the public, active games
// in which the player has a seat, the one with the latest event. It examines the player's
// 20 latest games and returns false if none qualifies. The game may have been idle for a
// long time: see its update_time. The error is ErrInvalid if playerID is empty or "me".
func (c *Client) CurrentGame(ctx context.Context, playerID string) (Game, bool, error) {
	if playerID == "" || playerID == "me" { // A server would list the games of all players, or those of another id.
		return Game{}, false, invalid("the player must be named by id, not by %q", playerID)
	}
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
				g, err := checkedGame(game, game.GetId(), nil)
				return g, err == nil, err
			}
		}
	}
	return Game{}, false, nil
}

// Join takes the seat with the given index and returns the game. If seat is nil, Join
// takes the account's own seat back from its stand-in, if it has one, and otherwise the
// first open seat. Joining a seat that the account already has is not an error. The call
// is retried like Seat.Move.
//
// The errors are ErrSeatTaken, ErrGameOver, ErrGameNotFound, and ErrInvalid if the game has
// no such seat.
func (c *Client) Join(ctx context.Context, gameID string, seat *int32) (Game, error) {
	request := &pb.JoinGameRequest{GameId: gameID, Seat: seat}
	response, err := retry(ctx, c, 0, c.Games.JoinGame, request)
	return checkedGame(response.GetGame(), gameID, err)
}

// Resign gives up all seats of the account in a game, one at a time, and returns the
// event for the last one. If it returns an error, some seats may already have been given
// up. If the account created the game and it is still waiting for players, Resign cancels
// it.
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

// React shows a reaction to the watchers and players of a game. It is not retried.
//
// The errors are ErrReactionsOff, ErrRateLimited if the account has reacted within a second,
// ErrGameOver, ErrGameNotFound, ErrBadToken, and ErrInvalid for an unknown reaction.
func (c *Client) React(ctx context.Context, gameID string, reaction pb.Reaction) error {
	_, err := c.Games.React(ctx, &pb.ReactRequest{GameId: gameID, Reaction: reaction})
	return err
}

// owns reports whether the seat belongs to the account.
func (c *Client) owns(seat *pb.Seat) bool {
	me := c.PlayerID()
	return me != "" && seat.GetPlayer().GetId() == me
}
