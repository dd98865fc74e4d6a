package client

import (
	"context"

	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// Game returns a game as it is now.
func (c *Client) Game(ctx context.Context, gameID string) (*pb.Game, error) {
	response, err := c.Games.GetGame(ctx, &pb.GetGameRequest{GameId: gameID})
	if err != nil {
		return nil, err
	}
	return response.GetGame(), checkGame(response.GetGame(), gameID)
}

// Join takes a seat of a game, by its index, and returns the game with it. A
// nil seat is the account's own, back from a stand-in where one moves for it,
// else the first that is open. It is repeated as Seat.Move is: a seat that one
// has already is no error.
func (c *Client) Join(ctx context.Context, gameID string, seat *int32) (*pb.Game, error) {
	request := &pb.JoinGameRequest{GameId: gameID, Seat: seat}
	response, err := retry(ctx, c, 0, nil, func(ctx context.Context) (*pb.JoinGameResponse, error) {
		return c.Games.JoinGame(ctx, request)
	})
	if err != nil {
		return nil, err
	}
	return response.GetGame(), checkGame(response.GetGame(), gameID)
}

// Undo takes moves back in a game that nobody else plays, at the version that
// the player saw: to an earlier version, or just before his last move that
// still stands where that is nil. It returns the event and is repeated as Move
// is.
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

// SeatAt is a seat of a game by its index, for those who have several there.
func (c *Client) SeatAt(game *pb.Game, index int32) *Seat {
	return &Seat{client: c, gameID: game.GetId(), index: index}
}
