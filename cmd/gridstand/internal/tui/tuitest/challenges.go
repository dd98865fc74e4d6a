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

// OnChallenges implements the methods of ui.Server for challenges by calling functions that the test
// sets. By default, there are no challenges.
type OnChallenges struct {
	OnChallenge    func(r *pb.GetChallengeRequest) (*pb.GetChallengeResponse, error)
	OnNewChallenge func() (*pb.Challenge, error)
	OnAttempt      func(id string) (*pb.Game, error)
	// OnRace is called with what the user does to a race: "join ready=true", "add greedy", "leave …", "start".
	OnRace      func(call string) error
	OnStandings func(r *pb.ListStandingsRequest) (*pb.ListStandingsResponse, error)
	// Contest is the stream of every challenge. If it is nil, the streams have no updates.
	Contest *ChallengeStream
}

// GetChallenge implements ui.Server.
func (s *OnChallenges) GetChallenge(_ context.Context, r *pb.GetChallengeRequest, _ ...grpc.CallOption) (*pb.GetChallengeResponse, error) {
	if s.OnChallenge == nil {
		return nil, client.ErrChallengeNotFound
	}
	return s.OnChallenge(r)
}

// NewChallenge implements ui.Server.
func (s *OnChallenges) NewChallenge(context.Context, ui.NewChallenge) (*pb.Challenge, error) {
	return s.OnNewChallenge()
}

// Attempt implements ui.Server.
func (s *OnChallenges) Attempt(_ context.Context, id string) (client.Game, error) {
	return asGame(s.OnAttempt(id))
}

// JoinChallenge implements ui.Server.
func (s *OnChallenges) JoinChallenge(_ context.Context, r *pb.JoinChallengeRequest, _ ...grpc.CallOption) (*pb.JoinChallengeResponse, error) {
	return nil, s.OnRace(fmt.Sprintf("join ready=%t", r.GetReady()))
}

// AddBot implements ui.Server.
func (s *OnChallenges) AddBot(_ context.Context, _, bot string) (*pb.Challenge, error) {
	return nil, s.OnRace("add " + bot)
}

// LeaveChallenge implements ui.Server.
func (s *OnChallenges) LeaveChallenge(_ context.Context, r *pb.LeaveChallengeRequest, _ ...grpc.CallOption) (*pb.LeaveChallengeResponse, error) {
	return nil, s.OnRace("leave " + r.GetGameId())
}

// StartChallenge implements ui.Server.
func (s *OnChallenges) StartChallenge(context.Context, *pb.StartChallengeRequest, ...grpc.CallOption) (*pb.StartChallengeResponse, error) {
	return nil, s.OnRace("start")
}

// ListStandings implements ui.Server.
func (s *OnChallenges) ListStandings(_ context.Context, r *pb.ListStandingsRequest, _ ...grpc.CallOption) (*pb.ListStandingsResponse, error) {
	if s.OnStandings == nil {
		return nil, client.ErrNoScore
	}
	return s.OnStandings(r)
}

// WatchChallenge implements ui.Server.
func (s *OnChallenges) WatchChallenge(ctx context.Context, _ string) ui.Stream[client.ChallengeUpdate] {
	from := s.Contest
	if from == nil {
		from = NewChallengeStream()
	}
	return &reader[client.ChallengeUpdate]{ctx: ctx, from: from.pipe}
}

// ChallengeStream is the stream of a challenge, with updates from the test.
type ChallengeStream struct{ pipe[client.ChallengeUpdate] }

// NewChallengeStream returns a stream without updates.
func NewChallengeStream() *ChallengeStream {
	return &ChallengeStream{make(pipe[client.ChallengeUpdate], 100)}
}

// Push sends a snapshot of the challenge.
func (s *ChallengeStream) Push(m *pb.WatchChallengeResponse) { s.pipe <- Snapshot(m) }

// Snapshot returns the update that delivers a snapshot of a challenge.
func Snapshot(m *pb.WatchChallengeResponse) client.ChallengeUpdate {
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
