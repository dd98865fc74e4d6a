package rpc

import (
	"context"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/gridstand/gridstand/game/replay"
	"github.com/gridstand/gridstand/game/variants"
	"github.com/gridstand/gridstand/internal/id"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
	"github.com/gridstand/gridstand/server/internal/challenge"
	"github.com/gridstand/gridstand/server/internal/front"
	"github.com/gridstand/gridstand/server/internal/invalid"
)

// JoinChallenge implements pb.ChallengeServiceServer.
func (s *Service) JoinChallenge(ctx context.Context, request *pb.JoinChallengeRequest) (*pb.JoinChallengeResponse, error) {
	by, requestID := caller(ctx), request.GetRequestId()
	admit := s.takesGame(ctx, by.ID) // A bot counts toward the limits on new games of the player who adds it.
	join := func(ctx context.Context, c *challenge.Challenge) (*challenge.Challenge, error) {
		if requestID != "" && !id.Valid(requestID) {
			return nil, errRequestID
		}
		entrant := challenge.Entrant{Player: by.Player, Ready: request.GetReady()}
		if request.GetBot() != "" {
			variant, ok := variants.Lookup(c.Variant, c.Revision)
			if !ok || !slices.Contains(variant.Bots, request.GetBot()) {
				return nil, invalid.Field("bot", "must be one of the bots that ListVariants returns for %s", c.Variant)
			}
			entrant = challenge.Entrant{Bot: request.GetBot(), GameID: id.New()}
			if requestID != "" {
				entrant.GameID = id.Derive([]byte("entrant"), []byte(c.ID), []byte(by.ID), []byte(requestID), []byte(entrant.Bot))
			}
		}
		return s.Challenges.Join(ctx, c.ID, by.ID, entrant, admit)
	}
	joined, err := s.changeRace(ctx, request.GetChallengeId(), join)
	return &pb.JoinChallengeResponse{Challenge: joined}, err
}

// lasting returns the context for the rest of a call that changes the store in several steps. It stays valid if the
// caller leaves, so that no step is missing then.
func lasting(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), maxCall)
}

// changeRace calls do to change the requested race, finishes the call, and returns the message that describes the race.
func (s *Service) changeRace(
	ctx context.Context, given string, do func(context.Context, *challenge.Challenge) (*challenge.Challenge, error),
) (*pb.Challenge, error) {
	c, now, err := s.find(ctx, given)
	switch {
	case err != nil:
		return nil, err
	case c.Kind != replay.Race:
		return nil, invalid.Field("challenge_id", "must be the id of a race")
	}
	ctx, cancel := lasting(ctx)
	defer cancel()
	if c, err = do(ctx, c); err != nil {
		return nil, err
	}
	return s.changed(ctx, c, now)
}

// The race that RaceNow creates, and the bot that takes part until a second player comes.
const (
	nowVariant = "classic"
	nowLimit   = 3 * time.Minute
	nowBot     = "greedy"
)

// RaceNow implements pb.ChallengeServiceServer.
func (s *Service) RaceNow(ctx context.Context, _ *pb.RaceNowRequest) (*pb.RaceNowResponse, error) {
	by := caller(ctx)
	c, now, err := s.Challenges.Now(ctx, by.Player, func(challengeID string) challenge.Challenge {
		return challenge.Challenge{
			ID: challengeID, Kind: replay.Race, Creator: by.Player, Source: challenge.SourceOf(front.AddressOf(ctx)),
			Variant: nowVariant, Limit: nowLimit, Entrants: []challenge.Entrant{challenge.StandIn(challengeID, nowBot)},
		}
	}, s.takesGame(ctx, by.ID))
	if err != nil {
		return nil, err
	}
	ctx, cancel := lasting(ctx)
	defer cancel()
	answered, err := s.changed(ctx, c, now)
	return &pb.RaceNowResponse{Challenge: answered}, err
}

// LeaveChallenge implements pb.ChallengeServiceServer.
func (s *Service) LeaveChallenge(ctx context.Context, request *pb.LeaveChallengeRequest) (*pb.LeaveChallengeResponse, error) {
	leave := func(ctx context.Context, c *challenge.Challenge) (*challenge.Challenge, error) {
		return s.Challenges.Leave(ctx, c.ID, caller(ctx).ID, request.GetGameId())
	}
	left, err := s.changeRace(ctx, request.GetChallengeId(), leave)
	return &pb.LeaveChallengeResponse{Challenge: left}, err
}

// StartChallenge implements pb.ChallengeServiceServer.
func (s *Service) StartChallenge(ctx context.Context, request *pb.StartChallengeRequest) (*pb.StartChallengeResponse, error) {
	start := func(ctx context.Context, c *challenge.Challenge) (*challenge.Challenge, error) {
		switch {
		case !c.Hosts(caller(ctx).ID):
			return nil, challenge.ErrNotCreator
		case !c.OpenTime.IsZero():
			return c, nil
		}
		return s.startRace(ctx, c.ID, true)
	}
	started, err := s.changeRace(ctx, request.GetChallengeId(), start)
	return &pb.StartChallengeResponse{Challenge: started}, err
}

// changed finishes a call that created a challenge or changed a roster: it begins the attempts, and starts the race if
// all entrants are ready. It returns the message that describes the challenge at the time now, by the store's clock.
func (s *Service) changed(ctx context.Context, c *challenge.Challenge, now time.Time) (*pb.Challenge, error) {
	err := s.beginAttempts(ctx, c)
	if err == nil && c.Ready() {
		c, err = s.startRace(ctx, c.ID, false)
	}
	if err != nil {
		return nil, err
	}
	m, _, err := s.challenge(ctx, c, now)
	return m, err
}

// startRace starts a race if a host asks for that or if it is due, unless it has already started. The race opens
// only after all entrants' attempts exist. To create them or find them again holds their jobs for a little longer than
// the countdown: if this server dies before it has scheduled them, bots move soon after the opening.
func (s *Service) startRace(ctx context.Context, challengeID string, asked bool) (*challenge.Challenge, error) {
	ctx, cancel := lasting(ctx)
	defer cancel()
	c, err := s.Challenges.Start(ctx, challengeID, asked, func(c *challenge.Challenge) error {
		var group errgroup.Group
		for _, e := range c.Entrants {
			group.Go(func() error {
				_, err := s.beginAttempt(ctx, c, e)
				return err
			})
		}
		return group.Wait()
	})
	if err != nil || c.OpenTime.IsZero() {
		return c, err
	}
	return c, s.Demand.Opens(ctx, c.GameIDs()...)
}
