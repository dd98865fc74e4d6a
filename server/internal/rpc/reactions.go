package rpc

import (
	"context"

	"github.com/gridstand/gridstand/game"
	"github.com/gridstand/gridstand/game/replay"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
	"github.com/gridstand/gridstand/server/internal/invalid"
)

var errReactionsOff = precondition(pb.ReasonReactionsOff, "this server shows no reactions")

// React implements pb.GameServiceServer.
func (s *Service) React(ctx context.Context, request *pb.ReactRequest) (*pb.ReactResponse, error) {
	switch _, known := pb.Reaction_name[int32(request.GetReaction())]; {
	case !s.Reactions:
		return nil, errReactionsOff
	case !known || request.GetReaction() == pb.Reaction_REACTION_UNSPECIFIED:
		return nil, invalid.Field("reaction", "must be one of the reactions")
	}
	m, err := s.acquire(ctx, request.GetGameId(), game.NoSeat)
	if err != nil {
		return nil, err
	}
	defer m.Release()
	state, err := s.show(ctx, m.State())
	if err != nil {
		return nil, err
	}
	if state.Status == replay.Finished {
		return nil, replay.ErrGameOver
	}
	if err := s.reactions.take(caller(ctx).ID, 1); err != nil {
		return nil, err
	}
	m.React(int(request.GetReaction()) - 1)
	return &pb.ReactResponse{}, nil
}
