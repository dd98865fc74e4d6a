package rpc

import (
	"context"
	"fmt"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/gridstand/gridstand/game/replay"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
	"github.com/gridstand/gridstand/server/internal/challenge"
	"github.com/gridstand/gridstand/server/internal/invalid"
	"github.com/gridstand/gridstand/server/internal/page"
	"github.com/gridstand/gridstand/server/internal/store"
)

// GetChallenge implements pb.ChallengeServiceServer.
func (s *Service) GetChallenge(ctx context.Context, request *pb.GetChallengeRequest) (*pb.GetChallengeResponse, error) {
	var (
		c, next *challenge.Challenge
		now     time.Time
		err     error
	)
	switch daily := request.GetDaily(); {
	case (daily != nil) == (request.GetChallengeId() != ""):
		return nil, invalid.Field("challenge_id", "must be set if and only if daily is not")
	case daily != nil:
		c, next, now, err = s.Challenges.Daily(ctx, daily.GetVariant(), daily.GetDate())
	default:
		c, now, err = s.find(ctx, request.GetChallengeId())
	}
	if err != nil {
		return nil, err
	}
	named, _, err := s.challenge(ctx, c, now)
	if err != nil {
		return nil, err
	}
	response := &pb.GetChallengeResponse{Challenge: named, Now: timestamppb.New(now)}
	if next != nil {
		response.Next = challengeAt(next, now)
	}
	if c.Kind == replay.Daily {
		response.DailyVariants = s.Challenges.Dailies
	}
	if by := caller(ctx); by.ID != "" {
		head, err := s.Log.Head(ctx, challenge.AttemptID(c.ID, by.ID))
		if err != nil {
			return nil, err
		}
		if state := head.State; state != nil && c.Has(state.ID) {
			response.Attempt = attempt(c, state)
		}
	}
	return response, nil
}

// ListChallenges implements pb.ChallengeServiceServer.
func (s *Service) ListChallenges(ctx context.Context, request *pb.ListChallengesRequest) (*pb.ListChallengesResponse, error) {
	kind := request.GetKind()
	if _, ok := pb.ChallengeKind_name[int32(kind)]; !ok {
		return nil, invalid.Field("kind", "must be daily, race, link, rematch or unset")
	}
	size, err := page.Size(request.GetPageSize())
	if err != nil {
		return nil, err
	}
	query := fmt.Sprintf("challenges %d", kind)
	after, err := s.Tokens.Open(ctx, query, request.GetPageToken())
	if err != nil {
		return nil, err
	}
	all, now, next, err := s.Challenges.List(ctx, replay.ChallengeKind(kind), after, size)
	if err != nil {
		return nil, err
	}
	messages, hidden, err := s.challenges(ctx, now, all...)
	if err != nil {
		return nil, err
	}
	response := &pb.ListChallengesResponse{}
	for i, c := range all { // Like the list of games, this list omits players whom an operator has hidden.
		if !hidden[c.Creator.ID] && !c.Absent(now) {
			response.Challenges = append(response.Challenges, messages[i])
		}
	}
	if next != (store.Place{}) {
		response.NextPageToken, err = s.Tokens.Seal(ctx, query, next)
	}
	return response, err
}
