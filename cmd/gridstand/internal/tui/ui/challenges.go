package ui

import (
	"context"
	"errors"

	"github.com/gridstand/gridstand/client"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// Challenges contains the methods of Server for challenges.
type Challenges interface {
	// Challenge returns the current state of a challenge, with the user's attempt. It
	// returns client.ErrChallengeNotFound if the server has no daily game.
	Challenge(ctx context.Context, r *pb.GetChallengeRequest) (*pb.GetChallengeResponse, error)
	// NewChallenge creates a challenge. If it is a race, NewChallenge also puts the bots on
	// the roster, unless another player has created it.
	NewChallenge(ctx context.Context, n NewChallenge) (*pb.Challenge, error)
	// Attempt starts the user's attempt at a challenge, or returns the existing one.
	Attempt(ctx context.Context, id string) (client.Game, error)
	// JoinRace, LeaveRace and StartRace modify a race that has not started.
	JoinRace(ctx context.Context, r *pb.JoinChallengeRequest) error
	LeaveRace(ctx context.Context, r *pb.LeaveChallengeRequest) error
	StartRace(ctx context.Context, id string) error
	// Standings returns the user's line in the standings of a challenge, with up to
	// neighbors lines above and below it. If the user is not in the standings, only Total
	// is set.
	Standings(ctx context.Context, id string, neighbors int32) (Standings, error)
	// WatchChallenge follows a challenge until ctx is done.
	WatchChallenge(ctx context.Context, id string) ChallengeStream
}

// Standings is an excerpt of a challenge's standings.
type Standings struct {
	Lines []*pb.Standing
	// Mine is the user's line, or nil if the user is not in the standings.
	Mine *pb.Standing
	// Total is the number of attempts in the full standings.
	Total int32
}

// ChallengeStream is a stream of a challenge's updates. client.ChallengeWatch implements
// it.
type ChallengeStream interface {
	// Next waits for the next update. After the last one, it returns io.EOF.
	Next() (client.ChallengeUpdate, error)
}

func (s *server) Challenge(ctx context.Context, r *pb.GetChallengeRequest) (*pb.GetChallengeResponse, error) {
	return s.Challenges.GetChallenge(ctx, r)
}

func (s *server) NewChallenge(ctx context.Context, n NewChallenge) (*pb.Challenge, error) {
	c, err := s.Client.NewChallenge(ctx, n.Request)
	if err != nil || c.GetCreator().GetId() != s.PlayerID() || len(c.GetEntrants()) > 1 {
		return c, err // an existing race is another player's, or has its bots
	}
	for _, bot := range n.Bots {
		if c, err = s.AddBot(ctx, c.GetId(), bot); err != nil {
			break
		}
	}
	return c, err
}

func (s *server) JoinRace(ctx context.Context, r *pb.JoinChallengeRequest) error {
	if r.GetBot() != "" {
		_, err := s.AddBot(ctx, r.GetChallengeId(), r.GetBot())
		return err
	}
	_, err := s.Challenges.JoinChallenge(ctx, r)
	return err
}

func (s *server) LeaveRace(ctx context.Context, r *pb.LeaveChallengeRequest) error {
	_, err := s.Challenges.LeaveChallenge(ctx, r)
	return err
}

func (s *server) StartRace(ctx context.Context, id string) error {
	_, err := s.Challenges.StartChallenge(ctx, &pb.StartChallengeRequest{ChallengeId: id})
	return err
}

func (s *server) Standings(ctx context.Context, id string, neighbors int32) (Standings, error) {
	reply, err := s.Challenges.ListStandings(ctx, &pb.ListStandingsRequest{
		ChallengeId: id, PlayerId: "me", Neighbors: neighbors,
	})
	if errors.Is(err, client.ErrNoScore) {
		reply, err = s.Challenges.ListStandings(ctx, &pb.ListStandingsRequest{ChallengeId: id, PageSize: 1})
		return Standings{Total: reply.GetTotal()}, err
	}
	me := s.PlayerID()
	mine := Find(reply.GetStandings(), func(l *pb.Standing) bool { return me != "" && l.GetPlayer().GetId() == me })
	return Standings{Lines: reply.GetStandings(), Mine: mine, Total: reply.GetTotal()}, err
}

func (s *server) WatchChallenge(ctx context.Context, id string) ChallengeStream {
	return s.Client.WatchChallenge(ctx, client.ChallengeWatchOptions{ChallengeID: id})
}
