package rpc

import (
	"context"
	"errors"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/gridstand/gridstand/game"
	"github.com/gridstand/gridstand/game/replay"
	"github.com/gridstand/gridstand/game/variants"
	"github.com/gridstand/gridstand/internal/id"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
	"github.com/gridstand/gridstand/server/internal/account"
	"github.com/gridstand/gridstand/server/internal/challenge"
	"github.com/gridstand/gridstand/server/internal/front"
	"github.com/gridstand/gridstand/server/internal/invalid"
)

// Bounds on an attempt's time limit.
const (
	minAttempt = 10 * time.Second
	maxRace    = 60 * time.Minute
)

// CreateChallenge implements pb.ChallengeServiceServer.
func (s *Service) CreateChallenge(ctx context.Context, request *pb.CreateChallengeRequest) (*pb.CreateChallengeResponse, error) {
	by := caller(ctx)
	wanted, err := s.newChallenge(ctx, request, by)
	if err != nil {
		return nil, err
	}
	ctx, cancel := lasting(ctx)
	defer cancel()
	// A challenge is created before its attempts, and so must be found if they are, unless it has expired.
	earlier, err := s.Log.Head(ctx, challenge.AttemptID(wanted.ID, by.ID))
	if err != nil {
		return nil, err
	}
	c, now, err := s.Challenges.Get(ctx, wanted.ID)
	if errors.Is(err, challenge.ErrNotFound) && !earlier.Exists {
		public := 0
		if !wanted.Private {
			public = 1
		}
		if err := s.takeGames(ctx, by.ID, 1+len(wanted.Entrants), public); err != nil {
			return nil, err
		}
		c, err = s.Challenges.Create(ctx, *wanted, now)
	}
	if errors.Is(err, challenge.ErrNotFound) || err == nil && !sameChallenge(c, wanted) {
		return nil, errOtherChallenge
	}
	if err != nil {
		return nil, err
	}
	answered, err := s.changed(ctx, c, now)
	return &pb.CreateChallengeResponse{Challenge: answered}, err
}

var errOtherChallenge = invalid.Field("request_id", "was used for a challenge with other content")

// newChallenge returns the challenge that a request describes. Package challenge sets the
// fields that depend on the challenge's kind.
func (s *Service) newChallenge(ctx context.Context, request *pb.CreateChallengeRequest, by account.Player) (*challenge.Challenge, error) {
	switch request.GetKind() {
	case pb.ChallengeKind_CHALLENGE_KIND_RACE, pb.ChallengeKind_CHALLENGE_KIND_LINK, pb.ChallengeKind_CHALLENGE_KIND_REMATCH:
	default:
		return nil, invalid.Field("kind", "must be race, link or rematch")
	}
	c := &challenge.Challenge{
		ID: id.New(), Kind: replay.ChallengeKind(request.GetKind()), Private: request.GetPrivate(),
		Creator: by.Player, Source: challenge.SourceOf(front.AddressOf(ctx)),
	}
	if request.GetPreviousChallengeId() != "" {
		return c, s.nextRace(ctx, c, request)
	}
	if r := request.GetRequestId(); r != "" {
		if !id.Valid(r) {
			return nil, errRequestID
		}
		c.ID = id.Derive([]byte("challenge"), []byte(by.ID), []byte(r))
	}
	var err error
	if c.Limit, err = attemptLimit(c.Kind, request.GetLimit()); err != nil {
		return nil, err
	}
	variant, ok := variants.Current(request.GetVariant())
	c.Variant = variant.ID
	switch rematch := c.Kind == replay.Rematch; {
	case rematch && request.GetVariant() != "":
		return nil, invalid.Field("variant", "must be empty for a rematch, which uses the game's variant")
	case rematch:
		return c, s.rematch(ctx, c, request.GetGameId())
	case request.GetGameId() != "":
		return nil, invalid.Field("game_id", "must be empty unless kind is rematch")
	case request.GetVariant() == "":
		return nil, missing("variant")
	case !ok:
		return nil, errVariantNotFound
	case !challengeable(&variant):
		return nil, invalid.Field("variant", "must be one of 2048, such as classic")
	}
	return c, nil
}

// maxNextRaces is the maximum number of races, each created after the one before, through which a
// call can be led to one that is not closed. If all are closed, the call returns the last.
const maxNextRaces = 20

// nextRace makes c the race that follows another one. Its id is derived from that race, so all
// entrants of that race get the same.
func (s *Service) nextRace(ctx context.Context, c *challenge.Challenge, request *pb.CreateChallengeRequest) error {
	if c.Kind != replay.Race {
		return invalid.Field("previous_challenge_id", "must be empty unless kind is race")
	}
	if request.GetVariant() != "" || request.GetLimit() != nil || request.GetPrivate() || request.GetGameId() != "" {
		return invalid.Field("previous_challenge_id", "must be the only field set beside kind and request_id")
	}
	previous, now, err := s.find(ctx, request.GetPreviousChallengeId())
	switch {
	case err != nil:
		return err
	case previous.Kind != replay.Race:
		return invalid.Field("previous_challenge_id", "must be the id of a race")
	case previous.Entrant(c.Creator.ID) == nil:
		return challenge.ErrNotEntered
	case previous.Status(now) < challenge.Open:
		return &challenge.NotOpenError{Challenge: previous}
	}
	last := previous
	for range maxNextRaces {
		c.ID = id.Derive([]byte("next race"), []byte(last.ID))
		next, now, err := s.Challenges.Get(ctx, c.ID)
		if err != nil && !errors.Is(err, challenge.ErrNotFound) {
			return err
		}
		if err != nil || next.Status(now) != challenge.Closed {
			break
		}
		last = next
	}
	// Even if it is not started, the new race is kept for longer than the one from which its id is derived. After
	// that, no call can create another race with this id, whose entrants would already have attempts with another
	// seed.
	c.Expires = last.Expires
	c.Variant, c.Limit, c.Private, c.Entrants = previous.Variant, previous.Limit, previous.Private, previous.Bots(c.ID)
	return nil
}

// challengeable reports whether a variant supports challenges.
func challengeable(v *game.Variant) bool { return v.Kind == game.Twenty48 && v.Seats == 1 }

// attemptLimit validates the requested time limit of an attempt. It returns the limit, or
// 0 if no limit was requested.
func attemptLimit(kind replay.ChallengeKind, requested *durationpb.Duration) (time.Duration, error) {
	limit := requested.AsDuration().Truncate(time.Millisecond)
	whole := requested.AsDuration()%time.Second == 0
	switch {
	case kind == replay.Race && (!requested.IsValid() || !whole || limit < minAttempt || limit > maxRace):
		return 0, invalid.Field("limit", "must be 10 to 3600 whole seconds for a race")
	case requested == nil:
		return 0, nil
	case kind == replay.Rematch:
		return 0, invalid.Field("limit", "must be unset for a challenge with the tiles of a game")
	case !requested.IsValid() || limit < minAttempt:
		return 0, invalid.Field("limit", "must be unset or at least 10 seconds")
	}
	return min(limit, challenge.OpenFor), nil
}

// rematch sets the seed, variant and target of a rematch from the original game.
func (s *Service) rematch(ctx context.Context, c *challenge.Challenge, givenID string) error {
	m, state, err := s.openMatch(ctx, givenID)
	if err != nil {
		return err
	}
	defer m.Release()
	if !challengeable(state.Variant) {
		return invalid.Field("game_id", "must be a game of 2048")
	}
	of := &challenge.Challenge{}
	if state.IsAttempt() {
		if of, _, err = s.Challenges.Get(ctx, state.Attempt.ChallengeID); err != nil {
			return err
		}
	}
	if c.Seed = state.RevealedSeed(); c.Seed.IsZero() {
		if state.Status != replay.Finished {
			return precondition(pb.ReasonSeedHidden, "the game is not over")
		}
		return notClosed(pb.ReasonSeedHidden, "this attempt's seed is hidden until its challenge is closed", of)
	}
	// The list of challenges must not reveal a game that is private or part of a private challenge.
	c.Private = c.Private || state.Private || of.Private
	c.Variant, c.Revision = state.Variant.ID, state.Variant.Revision
	c.Target = &challenge.Target{GameID: state.ID, Player: state.Seats[0].Player, Score: state.Position.Scores()[0]}
	return nil
}

// sameChallenge reports whether a and b were created by requests for the same challenge.
func sameChallenge(a, b *challenge.Challenge) bool {
	return a.Kind == b.Kind && a.Variant == b.Variant && a.Limit == b.Limit && a.Private == b.Private &&
		(a.Target == nil) == (b.Target == nil) && (a.Target == nil || a.Target.GameID == b.Target.GameID)
}
