package tuitest

import (
	"context"
	"fmt"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/gridstand/gridstand/client"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/ui"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// GetChallenge implements ui.Server.
func (s *Server) GetChallenge(_ context.Context, r *pb.GetChallengeRequest, _ ...grpc.CallOption) (*pb.GetChallengeResponse, error) {
	if s.OnChallenge == nil {
		return nil, client.ErrChallengeNotFound
	}
	return s.OnChallenge(r)
}

// NewChallenge implements ui.Server.
func (s *Server) NewChallenge(context.Context, ui.NewChallenge) (*pb.Challenge, error) {
	return s.OnNewChallenge()
}

// Attempt implements ui.Server.
func (s *Server) Attempt(_ context.Context, id string) (client.Game, error) {
	return asGame(s.OnAttempt(id))
}

// JoinChallenge implements ui.Server.
func (s *Server) JoinChallenge(_ context.Context, r *pb.JoinChallengeRequest, _ ...grpc.CallOption) (*pb.JoinChallengeResponse, error) {
	return nil, s.OnRace(fmt.Sprintf("join ready=%t", r.GetReady()))
}

// AddBot implements ui.Server.
func (s *Server) AddBot(_ context.Context, _, bot string) (*pb.Challenge, error) {
	return nil, s.OnRace("add " + bot)
}

// LeaveChallenge implements ui.Server.
func (s *Server) LeaveChallenge(_ context.Context, r *pb.LeaveChallengeRequest, _ ...grpc.CallOption) (*pb.LeaveChallengeResponse, error) {
	return nil, s.OnRace("leave " + r.GetGameId())
}

// StartChallenge implements ui.Server.
func (s *Server) StartChallenge(context.Context, *pb.StartChallengeRequest, ...grpc.CallOption) (*pb.StartChallengeResponse, error) {
	return nil, s.OnRace("start")
}

// ListStandings implements ui.Server.
func (s *Server) ListStandings(_ context.Context, r *pb.ListStandingsRequest, _ ...grpc.CallOption) (*pb.ListStandingsResponse, error) {
	if s.OnStandings == nil {
		return nil, client.ErrNoScore
	}
	return s.OnStandings(r)
}

// WatchChallenge implements ui.Server.
func (s *Server) WatchChallenge(ctx context.Context, _ string) ui.Stream[client.ChallengeUpdate] {
	return &reader[client.ChallengeUpdate]{ctx: ctx, from: s.Contest, end: new(error)}
}

// ChallengeStream is like Stream, for a challenge.
type ChallengeStream chan client.ChallengeUpdate

// NewChallengeStream returns a stream that begins with an update.
func NewChallengeStream(first client.ChallengeUpdate) ChallengeStream {
	s := make(ChallengeStream, 100)
	s <- first
	return s
}

// Snapshot returns the update that delivers a challenge at a time of the server's clock, with its standings.
func Snapshot(c *pb.Challenge, now time.Time, lines ...*pb.Standing) client.ChallengeUpdate {
	m := &pb.WatchChallengeResponse{Challenge: c, Standings: lines, Total: int32(len(lines)), Now: timestamppb.New(now)}
	return client.ChallengeUpdate{Snapshot: m, Connection: client.Connection{State: client.Live}}
}

// ChallengeID is the id of the challenge in these tests.
const ChallengeID = "race4qabcdefghijklmnopqrst"

// Race returns a race between ada (the user), bob and a bot. It opened 40 s before Noon and
// lasts three minutes.
func Race() *pb.Challenge {
	return &pb.Challenge{
		Id: ChallengeID, Kind: pb.ChallengeKind_CHALLENGE_KIND_RACE, Variant: "classic",
		Creator: &pb.Player{Id: Me, Name: "ada"}, Limit: durationpb.New(3 * time.Minute),
		CreateTime: timestamppb.New(Noon.Add(-2 * time.Minute)), OpenTime: timestamppb.New(Noon.Add(-40 * time.Second)),
		CloseTime: timestamppb.New(Noon.Add(140 * time.Second)), Status: pb.ChallengeStatus_CHALLENGE_STATUS_OPEN,
		Entrants: []*pb.Entrant{
			{Who: &pb.Entrant_Player{Player: &pb.Player{Id: Me, Name: "ada"}}, Ready: true, GameId: GameID},
			{Who: &pb.Entrant_Player{Player: &pb.Player{Id: "bob", Name: "bob"}}, GameId: "bobbobbobbobbobbobbobbobbo"},
			{Who: &pb.Entrant_Bot{Bot: "greedy"}, Ready: true, GameId: "greedygreedygreedygreedygr"},
		},
	}
}

// WaitingRace returns Race as it was before its start.
func WaitingRace() *pb.Challenge {
	c := Race()
	c.OpenTime, c.CloseTime, c.Status = nil, nil, pb.ChallengeStatus_CHALLENGE_STATUS_WAITING
	return c
}

// RaceStandings returns the standings of Race.
func RaceStandings() []*pb.Standing {
	return []*pb.Standing{
		{Rank: 1, Who: &pb.Standing_Player{Player: &pb.Player{Id: "bob", Name: "bob"}}, Score: 15312, GameId: "bobbobbobbobbobbobbobbobbo", LargestTile: 1024, MoveCount: 700},
		{Rank: 2, Who: &pb.Standing_Player{Player: &pb.Player{Id: Me, Name: "ada"}}, Score: 12340, GameId: GameID, LargestTile: 1024, MoveCount: 612},
		{Rank: 3, Who: &pb.Standing_Bot{Bot: "greedy"}, Score: 2212, GameId: "greedygreedygreedygreedygr", LargestTile: 256, MoveCount: 233, Finished: true},
	}
}

// DailyGame returns the daily game for Noon's date.
func DailyGame() *pb.Challenge {
	day := Noon.Truncate(24 * time.Hour)
	return &pb.Challenge{
		Id: "daily2abcdefghijklmnopqrst", Kind: pb.ChallengeKind_CHALLENGE_KIND_DAILY, Variant: "classic",
		Date: day.Format(time.DateOnly), Status: pb.ChallengeStatus_CHALLENGE_STATUS_OPEN,
		OpenTime: timestamppb.New(day), CloseTime: timestamppb.New(day.Add(24 * time.Hour)),
	}
}
