package rpc

import (
	"context"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/gridstand/gridstand/game/replay"
	"github.com/gridstand/gridstand/internal/convert"
	"github.com/gridstand/gridstand/internal/names"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
	"github.com/gridstand/gridstand/proto/translate"
	"github.com/gridstand/gridstand/server/internal/challenge"
)

// challengeAt returns the message that describes c at the time now, by the store's clock, with the names that
// the players had when they entered.
func challengeAt(c *challenge.Challenge, now time.Time) *pb.Challenge {
	commitment := c.Seed.Commitment()
	m := &pb.Challenge{
		Id: c.ID, Kind: pb.ChallengeKind(c.Kind), Variant: c.Variant, Status: pb.ChallengeStatus(c.Status(now)),
		CreateTime: timestamppb.New(c.CreateTime), OpenTime: timestamp(c.OpenTime), CloseTime: timestamp(c.CloseTime),
		StartTime: timestamp(c.StartTime),
		Limit:     translate.Span(c.Limit), Credited: translate.Span(c.Credited), Private: c.Private, Date: c.Date,
		SeedCommitment: commitment[:], Seed: c.Revealed(now).SeedBytes(),
	}
	if c.Creator.ID != "" {
		m.Creator = translate.Player(c.Creator)
	}
	for _, e := range c.Entrants {
		entrant := &pb.Entrant{Ready: e.Ready, GameId: e.GameID, Who: &pb.Entrant_Player{Player: translate.Player(e.Player)}}
		if e.Bot != "" {
			entrant.Who = &pb.Entrant_Bot{Bot: e.Bot}
		}
		m.Entrants = append(m.Entrants, entrant)
	}
	if t := c.Target; t != nil {
		m.Target = &pb.Target{GameId: t.GameID, Player: translate.Player(t.Player), Score: t.Score}
	}
	return m
}

// challenge is like challenges for one challenge.
func (s *Service) challenge(
	ctx context.Context, c *challenge.Challenge, now time.Time,
) (*pb.Challenge, map[string]bool, error) {
	all, hidden, err := s.challenges(ctx, now, c)
	return all[0], hidden, err
}

// challenges returns the messages that describe challenges at the time now, by the store's clock, with the present
// names of the players. It also returns which of these an operator has hidden, by player ID: they get the name of a
// guest.
func (s *Service) challenges(
	ctx context.Context, now time.Time, all ...*challenge.Challenge,
) ([]*pb.Challenge, map[string]bool, error) {
	var shown []*pb.Player
	messages := convert.All(all, func(c *challenge.Challenge) *pb.Challenge {
		m := challengeAt(c, now)
		shown = append(shown, m.GetCreator(), m.GetTarget().GetPlayer())
		shown = append(shown, convert.All(m.GetEntrants(), (*pb.Entrant).GetPlayer)...)
		return m
	})
	ids := convert.All(shown, (*pb.Player).GetId) // empty for a bot
	players, err := s.Accounts.Players(ctx, ids)
	if err != nil {
		return messages, nil, err
	}
	hidden, err := s.Leaderboard.Hidden(ctx, ids...)
	for _, p := range shown {
		if known, ok := players[p.GetId()]; ok {
			p.Name = known.Name
		}
		if hidden[p.GetId()] {
			p.Name = names.Guest(p.GetId())
		}
	}
	return messages, hidden, err
}

// attempt returns the message for an attempt at c whose game has the given state.
func attempt(c *challenge.Challenge, state *replay.State) *pb.Attempt {
	return &pb.Attempt{
		GameId: state.ID, Status: pb.GameStatus(state.Status), Score: state.Position.Scores()[0],
		Deadline: timestamp(c.Deadline(state.CreateTime)), DayStreak: state.Attempt.DayStreak,
	}
}

// timestamp returns the message for t, or nil if t is the zero time.
func timestamp(t time.Time) *timestamppb.Timestamp {
	if t.IsZero() {
		return nil
	}
	return timestamppb.New(t)
}
