package rpc

import (
	"context"
	"slices"

	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/gridstand/gridstand/game/variants"
	"github.com/gridstand/gridstand/internal/convert"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
	"github.com/gridstand/gridstand/proto/translate"
	"github.com/gridstand/gridstand/server/internal/invalid"
	"github.com/gridstand/gridstand/server/internal/leaderboard"
	"github.com/gridstand/gridstand/server/internal/page"
)

// board returns the board that a request names.
func board(variant string, window pb.Window) (b leaderboard.Board, err error) {
	if b.Variant = variant; variant == "" {
		return b, missing("variant")
	}
	switch window {
	case pb.Window_WINDOW_UNSPECIFIED, pb.Window_WINDOW_ALL_TIME:
	case pb.Window_WINDOW_WEEK:
		b.Window = leaderboard.Week
	case pb.Window_WINDOW_DAY:
		b.Window = leaderboard.Day
	default:
		return b, invalid.Field("window", "must be all time, week or day")
	}
	if _, ok := variants.Current(variant); !ok {
		return b, errVariantNotFound
	}
	return b, nil
}

// ListScores implements pb.LeaderboardServiceServer.
func (s *Service) ListScores(ctx context.Context, request *pb.ListScoresRequest) (*pb.ListScoresResponse, error) {
	of, err := board(request.GetVariant(), request.GetWindow())
	if err != nil {
		return nil, err
	}
	size, err := page.Size(request.GetPageSize())
	if err != nil {
		return nil, err
	}
	listed, err := s.Leaderboard.List(ctx, of, request.GetPageToken(), size)
	if err != nil {
		return nil, err
	}
	entries, err := s.entries(ctx, listed.Entries)
	return &pb.ListScoresResponse{Entries: entries, NextPageToken: listed.Next, Total: listed.Total}, err
}

// GetRank implements pb.LeaderboardServiceServer.
func (s *Service) GetRank(ctx context.Context, request *pb.GetRankRequest) (*pb.GetRankResponse, error) {
	of, err := board(request.GetVariant(), request.GetWindow())
	if err != nil {
		return nil, err
	}
	if request.GetNeighbors() < 0 {
		return nil, invalid.Field("neighbors", "must not be negative")
	}
	id, err := playerID(ctx, request.GetPlayerId())
	if err != nil {
		return nil, err
	}
	if _, err := s.Accounts.Get(ctx, id); err != nil {
		return nil, err
	}
	ranked, own, _, err := s.Leaderboard.Rank(ctx, of, id, request.GetNeighbors())
	if err != nil {
		return nil, err
	}
	entries, err := s.entries(ctx, ranked)
	if err != nil {
		return nil, err
	}
	return &pb.GetRankResponse{Entry: entries[own], Neighbors: slices.Concat(entries[:own], entries[own+1:])}, nil
}

// entries converts the entries of a leaderboard and adds the players' names.
func (s *Service) entries(ctx context.Context, lines []leaderboard.Entry) ([]*pb.Entry, error) {
	players, err := s.Accounts.Players(ctx, convert.All(lines, func(l leaderboard.Entry) string { return l.PlayerID }))
	if err != nil {
		return nil, err
	}
	entries := make([]*pb.Entry, len(lines))
	for i, l := range lines {
		p := players[l.PlayerID]
		p.ID = l.PlayerID
		entries[i] = &pb.Entry{
			Rank: l.Rank, Player: translate.Player(p.Player), Score: l.Score, GameId: l.GameID,
			Time: timestamppb.New(l.Time),
		}
	}
	return entries, nil
}
