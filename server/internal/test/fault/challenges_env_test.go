package fault

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/gridstand/gridstand/game"
	"github.com/gridstand/gridstand/game/replay"
	"github.com/gridstand/gridstand/game/variants"
	"github.com/gridstand/gridstand/internal/id"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
	challengev1 "github.com/gridstand/gridstand/server/internal/challenge/v1"
	"github.com/gridstand/gridstand/server/internal/store"
)

// plantChallenge writes a daily game or a link to the store and returns its ID. The challenge
// opens and closes after the given delays.
func (env *env) plantChallenge(t *testing.T, kind replay.ChallengeKind, opens, closes time.Duration) string {
	t.Helper()
	now := time.Now().Truncate(time.Millisecond)
	rules, ok := variants.Current("classic")
	require.True(t, ok)
	encoded, err := proto.Marshal(&challengev1.Challenge{
		Kind: uint32(kind), Variant: rules.ID, RulesRevision: rules.Revision, Seed: game.NewSeed().SeedBytes(),
		CreateMs: now.UnixMilli(), OpenMs: now.Add(opens).UnixMilli(), CloseMs: now.Add(closes).UnixMilli(),
	})
	require.NoError(t, err)
	planted := id.New()
	_, err = env.ports().Challenges.Create(t.Context(), store.Challenge{
		ID: planted, Encoded: encoded, Kind: uint8(kind), Created: now, Expires: now.Add(24 * time.Hour).Truncate(time.Second),
	})
	require.NoError(t, err)
	return planted
}

// alter changes a challenge in the store. The caller must ensure that no server has cached its
// times.
func (env *env) alter(t *testing.T, challengeID string, change func(m *challengev1.Challenge)) {
	t.Helper()
	found, _, err := env.ports().Challenges.Get(t.Context(), challengeID)
	require.NoError(t, err)
	var m challengev1.Challenge
	kept := found[challengeID]
	require.NoError(t, proto.Unmarshal(kept.Encoded, &m))
	change(&m)
	kept.Encoded, err = proto.Marshal(&m)
	require.NoError(t, err)
	require.NoError(t, env.ports().Challenges.Update(t.Context(), kept))
}

// newRace creates a ten-second race with the caller as its first entrant.
func (c *caller) newRace(t *testing.T) *pb.Challenge {
	t.Helper()
	request := &pb.CreateChallengeRequest{
		Kind: pb.ChallengeKind_CHALLENGE_KIND_RACE, Variant: "6x6", Limit: durationpb.New(10 * time.Second), RequestId: id.New(),
	}
	var created *pb.CreateChallengeResponse
	require.NoError(t, c.untilAnswered(t.Context(), func(ctx context.Context) (err error) {
		created, err = c.challenges.CreateChallenge(c.authorized(ctx), request)
		return err
	}))
	return created.GetChallenge()
}

// joinRace adds the caller to a race's roster.
func (c *caller) joinRace(ctx context.Context, raceID string) (race *pb.Challenge, err error) {
	err = c.untilAnswered(ctx, func(ctx context.Context) error {
		joined, err := c.challenges.JoinChallenge(c.authorized(ctx), &pb.JoinChallengeRequest{ChallengeId: raceID})
		race = joined.GetChallenge()
		return err
	})
	return race, err
}

// startRace starts a race that the caller created.
func (c *caller) startRace(ctx context.Context, raceID string) (race *pb.Challenge, err error) {
	err = c.untilAnswered(ctx, func(ctx context.Context) error {
		started, err := c.challenges.StartChallenge(c.authorized(ctx), &pb.StartChallengeRequest{ChallengeId: raceID})
		race = started.GetChallenge()
		return err
	})
	return race, err
}

func (c *caller) getChallenge(ctx context.Context, challengeID string) (got *pb.GetChallengeResponse, err error) {
	err = c.untilAnswered(ctx, func(ctx context.Context) (err error) {
		got, err = c.challenges.GetChallenge(c.authorized(ctx), &pb.GetChallengeRequest{ChallengeId: challengeID})
		return err
	})
	return got, err
}

// attempt creates the caller's attempt at a challenge.
func (c *caller) attempt(ctx context.Context, challengeID string) (*pb.Game, error) {
	return c.create(ctx, &pb.CreateGameRequest{ChallengeId: challengeID})
}
