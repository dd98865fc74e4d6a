package ui

import (
	"context"
	"errors"
	"slices"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/gridstand/gridstand/client"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// Server is the interface that pages use to call the server. Its methods may block until
// ctx is done and are safe for concurrent use. Errors are those of package client.
type Server interface {
	// NewGame creates a game of a variant for the player.
	NewGame(ctx context.Context, variant string, o client.GameOptions) (*pb.Game, error)
	// Game returns the current state of a game.
	Game(ctx context.Context, id string) (*pb.Game, error)
	// LiveGames returns the first page of games in progress, in the given order.
	LiveGames(ctx context.Context, by pb.OrderBy) ([]*pb.Game, error)
	// Move makes a move in the player's game; byBot marks the move as chosen by a program.
	// Move, Undo, Join and Resign retry until the outcome is known, and take effect at most
	// once.
	Move(ctx context.Context, game *pb.Game, version int32, move client.Move, byBot bool) (*pb.Event, error)
	// Undo returns the game to version *to. If to is nil, it undoes the player's last move.
	Undo(ctx context.Context, game *pb.Game, version int32, to *int32) (*pb.Event, error)
	// Join takes a seat in a game; see client.Client.Join.
	Join(ctx context.Context, id string, seat *int32) (*pb.Game, error)
	// Resign gives up all of the player's seats in a game, which may end the game.
	Resign(ctx context.Context, game *pb.Game) (*pb.Event, error)
	// Place returns the player's place on a leaderboard.
	Place(ctx context.Context, variant string, window pb.Window) (Place, error)
	// Lists returns the lists that the lobby shows. me is the id of the user's account, or
	// "". Lists requests the variants only if known is empty.
	Lists(ctx context.Context, me, variant string, window pb.Window, known []*pb.Variant) (Lists, error)
	// Variants lists the variants that the server offers.
	Variants(ctx context.Context) ([]*pb.Variant, error)
	// PlayerID returns the id of the player with the given name, or
	// client.ErrPlayerNotFound.
	PlayerID(ctx context.Context, name string) (string, error)
	// PlayerGame returns the game that the player with the given id is playing, or nil.
	PlayerGame(ctx context.Context, playerID string) (*pb.Game, error)
	// Watch follows a game until ctx is done.
	Watch(ctx context.Context, id string, o WatchOptions) Stream
	Challenges
}

// WatchOptions are the options of Server.Watch.
type WatchOptions struct {
	// If After is set, the stream delivers every event after that version. If it is nil,
	// the stream begins with a snapshot.
	After *int32
	// Preview watches without being counted as a watcher.
	Preview bool
}

// Lists has the lists that the lobby shows.
type Lists struct {
	Variants []*pb.Variant
	// Live lists the public games that are in progress or waiting for players.
	Live []*pb.Game
	// Races lists the latest public races.
	Races []*pb.Challenge
	// Moving is the number of public games with a move in the last 30 s.
	Moving int32
	// Mine lists the user's own games, latest first.
	Mine []*pb.Game
	// Scores is the leaderboard for Variant and Window.
	Scores  []*pb.Entry
	Variant string
	Window  pb.Window
}

// Stream is a stream of a game's updates. client.Watch implements it.
type Stream interface {
	// Next waits for the next update. After the last one, it returns io.EOF.
	Next() (client.Update, error)
}

// Place is a player's place on a leaderboard.
type Place struct {
	// Rank starts at 1. It is 0 while the player is not on the leaderboard.
	Rank int32
	// Score is the player's score. GameID is the game that earned it.
	Score  int32
	GameID string
	// Total is the number of entries on the leaderboard.
	Total int32
}

// NewServer returns a Server that makes its calls with c.
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

// Maximum lengths of the lobby's lists.
const (
	listLength   = 50
	scoresLength = 30
	racesLength  = 20 // the lobby shows only the open ones
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
	for _, stage := range []pb.GameStatus{pb.GameStatus_GAME_STATUS_WAITING, pb.GameStatus_GAME_STATUS_ACTIVE} {
		reply, err := s.client.Games.ListGames(ctx, &pb.ListGamesRequest{Status: stage, PageSize: listLength})
		if err != nil {
			return lists, err
		}
		lists.Live = append(lists.Live, sound(reply.GetGames())...)
		lists.Moving = reply.GetMovingGames()
	}
	races, err := s.client.Challenges.ListChallenges(ctx, &pb.ListChallengesRequest{
		Kind: pb.ChallengeKind_CHALLENGE_KIND_RACE, PageSize: racesLength,
	})
	if err != nil && status.Code(err) != codes.Unimplemented {
		return lists, err
	}
	lists.Races = races.GetChallenges()
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

// sound returns the games that are valid and can be drawn.
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
