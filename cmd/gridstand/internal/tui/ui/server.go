package ui

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"google.golang.org/grpc"

	"github.com/gridstand/gridstand/client"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// Server is the interface that pages use to call the server. Its methods may block until
// ctx is done and are safe for concurrent use. Errors are those of package client.
type Server interface {
	// These are methods of client.Client.
	Game(ctx context.Context, id string) (client.Game, error)
	Join(ctx context.Context, id string, seat *int32) (client.Game, error)
	Resign(ctx context.Context, game client.Game) (*pb.Event, error)
	CurrentGame(ctx context.Context, playerID string) (client.Game, bool, error)
	Attempt(ctx context.Context, challengeID string) (client.Game, error)
	AddBot(ctx context.Context, challengeID, bot string) (*pb.Challenge, error)

	// These are methods of pb.ChallengeServiceClient.
	GetChallenge(ctx context.Context, r *pb.GetChallengeRequest, o ...grpc.CallOption) (*pb.GetChallengeResponse, error)
	JoinChallenge(ctx context.Context, r *pb.JoinChallengeRequest, o ...grpc.CallOption) (*pb.JoinChallengeResponse, error)
	LeaveChallenge(ctx context.Context, r *pb.LeaveChallengeRequest, o ...grpc.CallOption) (*pb.LeaveChallengeResponse, error)
	StartChallenge(ctx context.Context, r *pb.StartChallengeRequest, o ...grpc.CallOption) (*pb.StartChallengeResponse, error)
	ListStandings(ctx context.Context, r *pb.ListStandingsRequest, o ...grpc.CallOption) (*pb.ListStandingsResponse, error)

	// NewGame creates a game. If it follows another one, of which another player waits in a game already,
	// NewGame takes a seat there, unless the user needs several.
	NewGame(ctx context.Context, n NewGame) (client.Game, error)
	// LiveGames returns the first page of games in progress, in the given order.
	LiveGames(ctx context.Context, by pb.OrderBy) ([]*pb.Game, error)
	// Move makes a move in the player's game; byBot marks the move as chosen by a program.
	// Move and Undo retry until the outcome is known, and take effect at most once.
	Move(ctx context.Context, game client.Game, version int32, move client.Move, byBot bool) (*pb.Event, error)
	// Undo undoes the player's last move.
	Undo(ctx context.Context, game client.Game, version int32) (*pb.Event, error)
	// React shows a reaction to a game.
	React(ctx context.Context, gameID string, reaction pb.Reaction) error
	// Profile returns what the user has achieved.
	Profile(ctx context.Context) (*pb.GetProfileResponse, error)
	// Place returns the user's place on a leaderboard.
	Place(ctx context.Context, variant string, window pb.Window) (Place, error)
	// Lists returns the lists that the lobby shows. me is the id of the user's account, or
	// "". Lists requests the variants only if known is empty.
	Lists(ctx context.Context, me, variant string, window pb.Window, known []*pb.Variant) (Lists, error)
	// Variants lists the variants that the server offers.
	Variants(ctx context.Context) ([]*pb.Variant, error)
	// Watch follows a game until ctx is done.
	Watch(ctx context.Context, o client.WatchOptions) Stream[client.Update]
	// NewChallenge creates a challenge. If it is a race, NewChallenge also puts the bots on
	// the roster, unless another player has created it.
	NewChallenge(ctx context.Context, n NewChallenge) (*pb.Challenge, error)
	// WatchChallenge follows a challenge until ctx is done.
	WatchChallenge(ctx context.Context, id string) Stream[client.ChallengeUpdate]
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

// Stream is a stream of updates of a game or a challenge. client.Watch and client.ChallengeWatch implement
// it.
type Stream[T any] interface {
	// Next waits for the next update. After the last one, it returns io.EOF.
	Next() (T, error)
}

// Place is a player's place on a leaderboard.
type Place struct {
	*pb.Entry       // nil while the player is not on the leaderboard
	Total     int32 // number of entries on the leaderboard
}

// NewServer returns a Server that makes its calls with c.
func NewServer(c *client.Client) Server { return &server{c, c.Challenges} }

type server struct {
	*client.Client
	pb.ChallengeServiceClient
}

func (s *server) NewGame(ctx context.Context, n NewGame) (client.Game, error) {
	rival := func(seat *pb.Seat) bool {
		id := seat.GetPlayer().GetId()
		return id != "" && id != s.PlayerID() &&
			slices.ContainsFunc(n.After.GetSeats(), func(o *pb.Seat) bool { return o.GetPlayer().GetId() == id })
	}
	seats := 0 // of the user
	for _, seat := range n.Options.Seats {
		if seat.GetCaller() != nil {
			seats++
		}
	}
	if seats == 1 && slices.ContainsFunc(n.After.GetSeats(), rival) {
		reply, err := s.Games.ListGames(ctx, &pb.ListGamesRequest{
			Status: pb.GameStatus_GAME_STATUS_WAITING, Variant: n.Variant, PageSize: listLength,
		})
		if err != nil {
			return client.Game{}, err
		}
		for _, g := range reply.GetGames() {
			if slices.ContainsFunc(g.GetSeats(), rival) {
				if joined, err := s.Join(ctx, g.GetId(), nil); err == nil { // otherwise its seats are taken
					return joined, nil
				}
			}
		}
	}
	return s.Client.NewGame(ctx, n.Variant, n.Options)
}

func (s *server) LiveGames(ctx context.Context, by pb.OrderBy) ([]*pb.Game, error) {
	reply, err := s.Games.ListGames(ctx, &pb.ListGamesRequest{
		Status: pb.GameStatus_GAME_STATUS_ACTIVE, OrderBy: by,
	})
	return reply.GetGames(), err
}

func (s *server) Move(ctx context.Context, game client.Game, version int32, move client.Move, byBot bool) (*pb.Event, error) {
	return s.Seat(game).Move(ctx, version, move, byBot)
}

func (s *server) Undo(ctx context.Context, game client.Game, version int32) (*pb.Event, error) {
	return s.Seat(game).Undo(ctx, version, nil)
}

func (s *server) Place(ctx context.Context, variant string, window pb.Window) (Place, error) {
	board, err := s.Leaderboard.ListScores(ctx, &pb.ListScoresRequest{
		Variant: variant, Window: window, PageSize: 1,
	})
	if err != nil {
		return Place{}, err
	}
	rank, err := s.Leaderboard.GetRank(ctx, &pb.GetRankRequest{Variant: variant, Window: window, PlayerId: "me"})
	if errors.Is(err, client.ErrNoScore) {
		err = nil
	}
	e := rank.GetEntry()
	return Place{e, max(board.GetTotal(), e.GetRank())}, err
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
		reply, err := s.Games.ListGames(ctx, &pb.ListGamesRequest{Status: stage, PageSize: listLength})
		if err != nil {
			return lists, err
		}
		lists.Live = append(lists.Live, sound(reply.GetGames())...)
		lists.Moving = reply.GetMovingGames()
	}
	races, err := s.ListChallenges(ctx, &pb.ListChallengesRequest{
		Kind: pb.ChallengeKind_CHALLENGE_KIND_RACE, PageSize: racesLength,
	})
	if err != nil {
		return lists, err
	}
	lists.Races = races.GetChallenges()
	if me != "" {
		reply, err := s.Games.ListGames(ctx, &pb.ListGamesRequest{PlayerId: me, PageSize: listLength})
		if err != nil {
			return lists, err
		}
		lists.Mine = sound(reply.GetGames())
	}
	reply, err := s.Leaderboard.ListScores(ctx, &pb.ListScoresRequest{
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
	reply, err := s.Games.ListVariants(ctx, &pb.ListVariantsRequest{})
	return reply.GetVariants(), err
}

func (s *server) Watch(ctx context.Context, o client.WatchOptions) Stream[client.Update] {
	return s.Client.Watch(ctx, o)
}

func (s *server) Profile(ctx context.Context) (*pb.GetProfileResponse, error) {
	return s.Players.GetProfile(ctx, &pb.GetProfileRequest{PlayerId: "me"})
}

func (s *server) NewChallenge(ctx context.Context, n NewChallenge) (*pb.Challenge, error) {
	if n.Request == nil {
		return s.Client.RaceNow(ctx)
	}
	c, err := s.Client.NewChallenge(ctx, n.Request)
	if err != nil || c.GetCreator().GetId() != s.PlayerID() || len(c.GetEntrants()) > 1 {
		return c, err // an existing race is another player's, or has its bots
	}
	for _, bot := range n.Bots {
		with, err := s.AddBot(ctx, c.GetId(), bot)
		if err != nil {
			return c, fmt.Errorf("the race %s was created, but without the bot %q: %w", c.GetId(), client.CleanText(bot, NameLimit), err)
		}
		c = with
	}
	return c, nil
}

func (s *server) WatchChallenge(ctx context.Context, id string) Stream[client.ChallengeUpdate] {
	return s.Client.WatchChallenge(ctx, client.ChallengeWatchOptions{ChallengeID: id})
}
