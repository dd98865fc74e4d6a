package rpc

import (
	"context"
	"slices"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/gridstand/gridstand/game/replay"
	"github.com/gridstand/gridstand/internal/convert"
	"github.com/gridstand/gridstand/internal/names"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
	"github.com/gridstand/gridstand/proto/translate"
	"github.com/gridstand/gridstand/server/internal/challenge"
)

// challenge returns the message that describes c at the time now, by the store's clock.
func (s *Service) challenge(c *challenge.Challenge, now time.Time) *pb.Challenge {
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

// named returns the message that describes c, with present names, at the time now, by the store's clock.
func (s *Service) named(ctx context.Context, c *challenge.Challenge, now time.Time) (*pb.Challenge, error) {
	named, _, err := s.present(ctx, c)
	if err != nil {
		return nil, err
	}
	return s.challenge(named[0], now), nil
}

// present returns copies of challenges with the present names of the creators, entrants and target's
// players, who may have had other names when they entered. It also returns which of them an operator has
// hidden, by player ID: these get the name of a guest.
func (s *Service) present(ctx context.Context, all ...*challenge.Challenge) ([]*challenge.Challenge, map[string]bool, error) {
	named := make([]*challenge.Challenge, len(all))
	var shown []*replay.Player
	for i, c := range all {
		copied := *c
		named[i] = &copied
		shown = append(shown, &copied.Creator)
		copied.Entrants = slices.Clone(c.Entrants)
		for j := range copied.Entrants {
			shown = append(shown, &copied.Entrants[j].Player)
		}
		if c.Target != nil {
			target := *c.Target
			copied.Target = &target
			shown = append(shown, &target.Player)
		}
	}
	ids := convert.All(shown, func(p *replay.Player) string { return p.ID })
	players, err := s.Accounts.Players(ctx, ids)
	if err != nil {
		return nil, nil, err
	}
	hidden, err := s.Leaderboard.Hidden(ctx, ids...)
	for _, p := range shown {
		if known, ok := players[p.ID]; ok {
			p.Name = known.Name
		}
		if hidden[p.ID] {
			p.Name = names.Guest(p.ID)
		}
	}
	return named, hidden, err
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
