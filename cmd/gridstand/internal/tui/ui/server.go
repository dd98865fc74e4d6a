package ui

import (
	"context"
	"errors"
	"slices"

	"github.com/gridstand/gridstand/client"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// Server is what pages ask of a server. Its methods may wait until ctx ends, and are safe
// for concurrent use; errors are those of package client.
type Server interface {
	// NewGame creates a game of a variant for the player.
	NewGame(ctx context.Context, variant string, o client.GameOptions) (*pb.Game, error)
	// Game returns a game as it is now.
	Game(ctx context.Context, id string) (*pb.Game, error)
	// LiveGames lists the first games that are being played, in an order.
	LiveGames(ctx context.Context, by pb.OrderBy) ([]*pb.Game, error)
	// Move makes a move in the player's game; byBot says that a program chose it. It retries
	// until it is known whether the move took effect, which it does once. So do Undo, Join
	// and Resign.
	Move(ctx context.Context, game *pb.Game, version int32, move client.Move, byBot bool) (*pb.Event, error)
	// Undo takes moves back, to a version, or the player's last move if that is nil.
	Undo(ctx context.Context, game *pb.Game, version int32, to *int32) (*pb.Event, error)
	// Join takes a seat, as client.Client does.
	Join(ctx context.Context, id string, seat *int32) (*pb.Game, error)
	// Resign ends the player's game, or their part in it: it gives up all their seats.
	Resign(ctx context.Context, game *pb.Game) (*pb.Event, error)
	// Place returns where the player stands on a board.
	Place(ctx context.Context, variant string, window pb.Window) (Place, error)
	// Lists returns what a lobby shows to a player, by their id, empty for none. It asks
	// for the variants unless they are known.
	Lists(ctx context.Context, me, variant string, window pb.Window, known []*pb.Variant) (Lists, error)
	// Variants lists the variants that the server offers.
	Variants(ctx context.Context) ([]*pb.Variant, error)
	// PlayerID returns the id of the player with a name. The error is
	// client.ErrPlayerNotFound if there is none.
	PlayerID(ctx context.Context, name string) (string, error)
	// PlayerGame returns the game that a player plays now, by the player's id; nil if none.
	PlayerGame(ctx context.Context, playerID string) (*pb.Game, error)
	// Watch follows a game until ctx ends.
	Watch(ctx context.Context, id string, o WatchOptions) Stream
}

// WatchOptions say how a game is watched.
type WatchOptions struct {
	// After is the version after which every event comes; nil for a snapshot and what
	// follows.
	After *int32
	// Preview does not count as a watcher.
	Preview bool
}

// Lists are what a lobby shows.
type Lists struct {
	Variants []*pb.Variant
	// Live are public games that are played, and those that wait for players.
	Live []*pb.Game
	// Moving is the number of public games with a move in the last 30 s.
	Moving int32
	// Mine are the player's own games, the latest first.
	Mine []*pb.Game
	// Scores is the leaderboard of Variant and Window.
	Scores  []*pb.Entry
	Variant string
	Window  pb.Window
}

// Stream is what client.Watch is: the updates of a game, one by one.
type Stream interface {
	// Next waits for the next update; io.EOF follows the last one.
	Next() (client.Update, error)
}

// Place is a player's place on a leaderboard.
type Place struct {
	// Rank from 1, 0 while the player is not on the board.
	Rank int32
	// Score of the entry, and the game that it was made in.
	Score  int32
	GameID string
	// Total is the number of entries on the board.
	Total int32
}

// NewServer returns the server of a client.
func NewServer(c *client.Client) Server { return &server{client: c} }

type server struct{ client *client.Client }

func (s *server) NewGame(ctx context.Context, variant string, o client.GameOptions) (*pb.Game, error) {
	g, err := s.client.NewGame(ctx, variant, o)
	return g.Game, err
}

func (s *server) Game(ctx context.Context, id string) (*pb.Game, error) {
	g, err := s.client.Game(ctx, id)
	return g.Game, err
}

func (s *server) LiveGames(ctx context.Context, by pb.OrderBy) ([]*pb.Game, error) {
	reply, err := s.client.Games.ListGames(ctx, &pb.ListGamesRequest{
		Status: pb.GameStatus_GAME_STATUS_ACTIVE, OrderBy: by,
	})
	return reply.GetGames(), err
}

func (s *server) Move(ctx context.Context, game *pb.Game, version int32, move client.Move, byBot bool) (*pb.Event, error) {
	return s.client.Seat(client.Game{Game: game}).Move(ctx, version, move, byBot)
}

func (s *server) Undo(ctx context.Context, game *pb.Game, version int32, to *int32) (*pb.Event, error) {
	return s.client.Seat(client.Game{Game: game}).Undo(ctx, version, to)
}

func (s *server) Join(ctx context.Context, id string, seat *int32) (*pb.Game, error) {
	g, err := s.client.Join(ctx, id, seat)
	return g.Game, err
}

func (s *server) Resign(ctx context.Context, game *pb.Game) (*pb.Event, error) {
	return s.client.Resign(ctx, client.Game{Game: game})
}

func (s *server) Place(ctx context.Context, variant string, window pb.Window) (Place, error) {
	board, err := s.client.Leaderboard.ListScores(ctx, &pb.ListScoresRequest{
		Variant: variant, Window: window, PageSize: 1,
	})
	if err != nil {
		return Place{}, err
	}
	mine, err := s.client.Leaderboard.GetRank(ctx, &pb.GetRankRequest{
		Variant: variant, Window: window, PlayerId: "me",
	})
	if errors.Is(err, client.ErrNoScore) {
		return Place{Total: board.GetTotal()}, nil
	}
	if err != nil {
		return Place{}, err
	}
	e := mine.GetEntry()
	return Place{
		Rank: e.GetRank(), Score: e.GetScore(), GameID: e.GetGameId(),
		Total: max(board.GetTotal(), e.GetRank()),
	}, nil
}

// Lengths of the lists of a lobby.
const (
	listLength   = 50
	scoresLength = 30
)

func (s *server) Lists(ctx context.Context, me, variant string, window pb.Window, known []*pb.Variant) (Lists, error) {
	lists := Lists{Variants: known, Variant: variant, Window: window}
	if len(known) == 0 {
		variants, err := s.Variants(ctx)
		if err != nil {
			return lists, err
		}
		lists.Variants = variants
	}
	for _, status := range []pb.GameStatus{pb.GameStatus_GAME_STATUS_WAITING, pb.GameStatus_GAME_STATUS_ACTIVE} {
		reply, err := s.client.Games.ListGames(ctx, &pb.ListGamesRequest{Status: status, PageSize: listLength})
		if err != nil {
			return lists, err
		}
		lists.Live = append(lists.Live, sound(reply.GetGames())...)
		lists.Moving = reply.GetMovingGames()
	}
	if me != "" {
		reply, err := s.client.Games.ListGames(ctx, &pb.ListGamesRequest{PlayerId: me, PageSize: listLength})
		if err != nil {
			return lists, err
		}
		lists.Mine = sound(reply.GetGames())
	}
	reply, err := s.client.Leaderboard.ListScores(ctx, &pb.ListScoresRequest{
		Variant: variant, Window: window, PageSize: scoresLength,
	})
	lists.Scores = reply.GetEntries()
	return lists, err
}

// sound are the games that can be drawn.
func sound(games []*pb.Game) []*pb.Game {
	return slices.DeleteFunc(games, func(g *pb.Game) bool { return client.CheckGame(g) != nil })
}

func (s *server) Variants(ctx context.Context) ([]*pb.Variant, error) {
	reply, err := s.client.Games.ListVariants(ctx, &pb.ListVariantsRequest{})
	return reply.GetVariants(), err
}

func (s *server) Watch(ctx context.Context, id string, o WatchOptions) Stream {
	return s.client.Watch(ctx, client.WatchOptions{
		GameID: id, AfterVersion: o.After, EveryEvent: o.After != nil, Preview: o.Preview,
	})
}

func (s *server) PlayerID(ctx context.Context, name string) (string, error) {
	player, err := s.client.PlayerByName(ctx, name)
	return player.GetId(), err
}

func (s *server) PlayerGame(ctx context.Context, playerID string) (*pb.Game, error) {
	g, _, err := s.client.CurrentGame(ctx, playerID)
	return g.Game, err
}
