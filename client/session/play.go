package session

import (
	"context"
	"errors"
	"time"

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

// NewGame creates a game.
func (c *Client) NewGame(ctx context.Context, variant string, opts GameOptions) (*pb.Game, error) {
	return nil, errors.ErrUnsupported
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

// Play returns the client's seat in a game, the lowest where it has several.
// Nothing is asked of the server: where the account has no seat, the server
// will say so at the first move.
func (c *Client) Play(game *pb.Game) *Seat { return &Seat{client: c, gameID: game.GetId(), index: -1} }

// Index is the seat's place in the game, -1 where the account has none.
func (s *Seat) Index() int32 { return s.index }

// GameID is the id of the game.
func (s *Seat) GameID() string { return s.gameID }

// Move makes a move at the version that the player saw and returns the event
// that it became. byBot declares that a program chose it.
//
// It takes effect at most once. Where a reply is lost, the server or its store
// is away or asks to wait, the same call is made again with growing waits until
// ctx ends; the error then is ErrUnsettled as well. Every other error means that
// the move did not take effect.
func (s *Seat) Move(ctx context.Context, version int32, m Move, byBot bool) (*pb.Event, error) {
	return nil, errors.ErrUnsupported
}

// Resign gives the seat up, at whatever version the game has. It is repeated
// as Move is.
func (s *Seat) Resign(ctx context.Context) (*pb.Event, error) { return nil, errors.ErrUnsupported }
