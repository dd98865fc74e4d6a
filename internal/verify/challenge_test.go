package verify_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/gridstand/gridstand/game/replay"
	transcripts "github.com/gridstand/gridstand/internal/testkit/transcript"
	waittest "github.com/gridstand/gridstand/internal/testkit/wait"
	"github.com/gridstand/gridstand/internal/verify"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

const challengeID = "challengechallengechalleng"

// failure returns a server's error with the given reason.
func failure(reason string) error {
	st, err := status.New(codes.NotFound, "not found").WithDetails(&errdetails.ErrorInfo{Reason: reason, Domain: pb.ErrorDomain})
	if err != nil {
		return err
	}
	return st.Err()
}

func (s *server) GetChallenge(context.Context, *pb.GetChallengeRequest) (*pb.GetChallengeResponse, error) {
	if s.challenge == nil {
		return nil, failure(pb.ReasonChallengeNotFound)
	}
	return &pb.GetChallengeResponse{Challenge: s.challenge}, nil
}

func (s *server) ListStandings(context.Context, *pb.ListStandingsRequest) (*pb.ListStandingsResponse, error) {
	if len(s.standings) == 0 {
		return nil, failure(pb.ReasonNoScore)
	}
	return &pb.ListStandingsResponse{Standings: s.standings}, nil
}

// own is the index of the player's entry in the standings of the daily game.
const own = 2

// daily returns a server with an attempt at a closed daily game.
func daily(t *testing.T, moves int) *server {
	t.Helper()
	seed := seedOf(t, 1)
	events := attempt(t, "classic", seed, moves, replay.Attempt{ChallengeID: challengeID, Kind: replay.Daily})
	commitment := seed.Commitment()
	score := events[len(events)-1].GetPosition().GetScores()[0]
	var lines []*pb.Standing
	for i, player := range []string{"first", "second", otherID, "fourth"} {
		lines = append(lines, &pb.Standing{
			Rank: int32(i) + 1, Who: &pb.Standing_Player{Player: &pb.Player{Id: player, Name: player}}, GameId: player,
			Score: score + 4 - 4*int32((i+1)/2), Time: timestamppb.New(noon.Add(time.Duration(i) * time.Minute)), Finished: true,
		})
	}
	lines[own].GameId = gameID
	return &server{
		status: pb.GameStatus_GAME_STATUS_FINISHED, events: events, standings: lines,
		challenge: &pb.Challenge{
			Id: challengeID, Kind: pb.ChallengeKind_CHALLENGE_KIND_DAILY, Variant: "classic", Status: pb.ChallengeStatus_CHALLENGE_STATUS_CLOSED,
			CloseTime: timestamppb.New(noon.Add(12 * time.Hour)), SeedCommitment: commitment[:], Seed: seed.SeedBytes(),
		},
	}
}

// last returns the last event, which reveals the seed.
func (s *server) last() *pb.Event { return s.events[len(s.events)-1] }

// Ensure that an attempt is verified together with its challenge.
func TestGame_Attempt(t *testing.T) {
	t.Parallel()
	ctx := waittest.Context(t)
	for name, tc := range map[string]struct {
		change func(s *server)
		want   *verify.Challenge
	}{
		"as it is":  {func(*server) {}, &verify.Challenge{ID: challengeID, Rank: 3}},
		"forgotten": {func(s *server) { s.challenge = nil }, nil},
		"a rematch": {
			func(s *server) { s.challenge.Kind = pb.ChallengeKind_CHALLENGE_KIND_REMATCH },
			&verify.Challenge{ID: challengeID, Rank: 3, Unproved: true},
		},
		"ended by the close of a race": {
			func(s *server) {
				s.challenge.Kind, s.challenge.CloseTime = pb.ChallengeKind_CHALLENGE_KIND_RACE, s.standings[own].GetTime()
				s.standings[own-1].Time = timestamppb.New(noon.Add(time.Hour))
			},
			&verify.Challenge{ID: challengeID, Rank: 3},
		},
		"of a program": {
			func(s *server) { s.events, s.standings = daily(t, 30).events, nil }, &verify.Challenge{ID: challengeID},
		},
		"without points": {func(s *server) { *s = *daily(t, 0) }, &verify.Challenge{ID: challengeID, Rank: 3}},
		"without points and place": {
			func(s *server) { s.events, s.standings = daily(t, 0).events, nil }, &verify.Challenge{ID: challengeID, Missing: true},
		},
		"not in the standings": { // The player may be hidden.
			func(s *server) { s.standings[own].GetPlayer().Id = gameID },
			&verify.Challenge{ID: challengeID, Missing: true},
		},
	} {
		s := daily(t, 15)
		tc.change(s)
		report, err := verify.Game(ctx, s.client(t), gameID)
		require.NoError(t, err, name)
		assert.Equal(t, tc.want, report.Challenge, name)
		assert.Equal(t, challengeID, report.ChallengeID, name)
	}
}

// Ensure that the error for an attempt with a hidden seed says when it can be verified.
func TestGame_AttemptOpen(t *testing.T) {
	t.Parallel()
	s := daily(t, 15)
	sealed := clone(s.events)
	sealed[len(sealed)-1].Seed = nil
	_, err := verify.Transcript(transcripts.All(sealed))
	require.ErrorIs(t, err, verify.ErrSealed)

	s.events, s.challenge.Seed = sealed, nil
	_, err = verify.Game(t.Context(), s.client(t), gameID)
	require.ErrorIs(t, err, verify.ErrOpen)
	assert.EqualError(t, err, verify.ErrOpen.Error()+"; it closes at 2026-11-21 00:00:00 UTC")
	s.challenge.CloseTime = nil
	_, err = verify.Game(t.Context(), s.client(t), gameID)
	assert.Equal(t, verify.ErrOpen, err)
}

// Ensure that any change to an attempt or its challenge is detected.
func TestGame_AttemptAltered(t *testing.T) {
	t.Parallel()
	ctx := waittest.Context(t)
	other := seedOf(t, 2)
	otherCommitment := other.Commitment()
	for _, tc := range []struct {
		want  string
		alter func(s *server)
	}{
		{"version 1: the commitment is ", func(s *server) { s.last().Seed = other.SeedBytes() }},
		{"version 1: the commitment is ", func(s *server) { // another seed, used consistently
			s.last().Seed, s.challenge.Seed, s.challenge.SeedCommitment = other.SeedBytes(), other.SeedBytes(), otherCommitment[:]
		}},
		{"version 7: position.scores[0] is ", func(s *server) { s.events[6].Position.Scores[0]++ }},
		{"but SHA-256 of its seed is ", func(s *server) { s.challenge.Seed = other.SeedBytes() }},
		{"the commitment of the challenge is ", func(s *server) { s.challenge.SeedCommitment = otherCommitment[:] }},
		{`the variant of the challenge is "3x3"`, func(s *server) { s.challenge.Variant = "3x3" }},
		{`its challenge is "other`, func(s *server) { s.challenge.Id = otherID }},
		{`its challenge is ""`, func(s *server) { s.hides = true }},
		{"the standings show 1000000 points", func(s *server) { s.standings[own].Score = 1_000_000 }},
		{`the standings have game "other`, func(s *server) { s.standings[own].GameId = otherID }},
		{"the standings show rank 0", func(s *server) { s.standings[own].Rank = 0 }},
		{"the standings show rank 1 after rank 2", func(s *server) { s.standings[own].Rank = 1 }},
		{"the standings show rank 3 after rank 3", func(s *server) { s.standings[own+1].Rank = 3 }},
		{"rank 3, but only 1 entries above it", func(s *server) { s.standings = s.standings[1:] }},
		{" points below ", func(s *server) { s.standings[own-1].Score-- }},
		{"the later of two equal scores first", func(s *server) { s.standings[own-1].Time = timestamppb.New(noon.Add(time.Hour)) }},
		{"the later of two equal scores first", func(s *server) { // which the close of a race ended
			s.challenge.Kind, s.challenge.CloseTime = pb.ChallengeKind_CHALLENGE_KIND_RACE, timestamppb.New(noon.Add(time.Hour))
			s.standings[own-1].Time = timestamppb.New(noon.Add(time.Hour))
		}},
		{"rank 3, but ranked is false", func(s *server) { // a program's attempt
			counted := daily(t, 30)
			s.events, s.standings = counted.events, counted.standings
		}},
	} {
		s := daily(t, 15)
		tc.alter(s)
		_, err := verify.Game(ctx, s.client(t), gameID)
		var difference *verify.Difference
		require.ErrorAs(t, err, &difference, tc.want)
		assert.ErrorContains(t, err, tc.want)
	}
}
