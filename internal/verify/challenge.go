package verify

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"

	"github.com/gridstand/gridstand/client"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// ErrSealed means that the transcript of an attempt has no seed, because it was saved before
// its challenge closed.
var ErrSealed = errors.New("the transcript has no seed: it was saved before its challenge closed. Save it again after the challenge has closed")

// ErrOpen means that a game is an attempt at a challenge that is still open, so that its seed
// is still secret.
var ErrOpen = errors.New("the game is an attempt at a challenge that is still open: it can be verified after the challenge has closed")

// Challenge reports what was confirmed about the challenge of an attempt.
type Challenge struct {
	ID string `json:"challengeId"`
	// Rank is the attempt's place in the standings, or 0 if the attempt does not count or is
	// missing.
	Rank int32 `json:"rank"`
	// Missing is set if the attempt counts but is not in the standings: either the operator has
	// hidden the player, or the result has not been stored yet.
	Missing bool `json:"missing"`
	// Unproved is set for a rematch, because the player may have known its tiles.
	Unproved bool `json:"unproved"`
}

// challengeOf returns the challenge of an attempt, or nil if the server has deleted it. The
// error is ErrOpen, with the closing time, while the challenge is open and hides the seed.
func challengeOf(ctx context.Context, c *client.Client, game client.Game) (*pb.Challenge, error) {
	reply, err := c.Challenges.GetChallenge(ctx, &pb.GetChallengeRequest{ChallengeId: game.GetChallengeId()})
	switch {
	case errors.Is(err, client.ErrChallengeNotFound):
		return nil, nil
	case err != nil:
		return nil, err
	case len(game.GetSeed()) > 0 || len(reply.GetChallenge().GetSeed()) > 0:
		return reply.GetChallenge(), nil
	}
	if until := reply.GetChallenge().GetCloseTime(); until != nil {
		return nil, fmt.Errorf("%w; it closes at %s", ErrOpen, until.AsTime().Format("2006-01-02 15:04:05 MST"))
	}
	return nil, ErrOpen
}

// checkChallenge compares a verified attempt with its challenge: the seed and the entry in
// the standings. If one of them is wrong, the error is a *Difference.
func checkChallenge(ctx context.Context, c *client.Client, challenge *pb.Challenge, game client.Game, r Report) (*Challenge, error) {
	seed := sha256.Sum256(challenge.GetSeed())
	switch {
	case len(game.GetSeats()) != 1 || len(r.Scores) != 1:
		return nil, differs(0, "an attempt has one seat, not %d", len(game.GetSeats()))
	case challenge.GetId() != game.GetChallengeId() || r.ChallengeID != game.GetChallengeId():
		return nil, differs(0, "the game is an attempt at %q, its challenge is %q", r.ChallengeID, challenge.GetId())
	case challenge.GetVariant() != r.Variant:
		return nil, differs(0, "the variant of the challenge is %q, of the game %q", challenge.GetVariant(), r.Variant)
	case !bytes.Equal(challenge.GetSeedCommitment(), r.Commitment):
		return nil, differs(0, "the commitment of the challenge is %x, of the game %x", challenge.GetSeedCommitment(), r.Commitment)
	case !bytes.Equal(seed[:], challenge.GetSeedCommitment()):
		return nil, differs(0, "the commitment of the challenge is %x, but SHA-256 of its seed is %x", challenge.GetSeedCommitment(), seed)
	}
	lines, line, err := standingsAround(ctx, c, challenge, game)
	if err != nil {
		return nil, err
	}
	bot := challenge.GetKind() == pb.ChallengeKind_CHALLENGE_KIND_RACE && game.GetSeats()[0].GetBot() != ""
	counts := r.Ranked || bot
	switch {
	case line == nil:
		return &Challenge{ID: challenge.GetId(), Missing: counts}, nil
	case line.GetGameId() != r.GameID:
		return nil, differs(0, "the standings have game %q for the player, not this one", line.GetGameId())
	case line.GetScore() != r.Scores[0]:
		return nil, differs(0, "the standings show %d points, recomputed %d", line.GetScore(), r.Scores[0])
	case counts != (line.GetRank() > 0):
		return nil, differs(0, "the standings show rank %d, but ranked is %t", line.GetRank(), r.Ranked)
	}
	if err := checkRanks(challenge, lines, line); err != nil {
		return nil, err
	}
	unproved := challenge.GetKind() == pb.ChallengeKind_CHALLENGE_KIND_REMATCH
	return &Challenge{ID: challenge.GetId(), Rank: line.GetRank(), Unproved: unproved}, nil
}

// neighbors is the number of entries on each side of an attempt's that are checked.
const neighbors = 50

// standingsAround returns a part of the standings that contains the entry of an attempt, and
// that entry, which is nil if the attempt has none.
func standingsAround(
	ctx context.Context, c *client.Client, challenge *pb.Challenge, game client.Game,
) (lines []*pb.Standing, own *pb.Standing, err error) {
	request := &pb.ListStandingsRequest{ChallengeId: challenge.GetId()}
	player := game.GetSeats()[0].GetPlayer().GetId()
	if player != "" {
		request.PlayerId, request.Neighbors = player, neighbors
	}
	listed, err := c.Challenges.ListStandings(ctx, request)
	if errors.Is(err, client.ErrNoScore) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, fmt.Errorf("standings: %w", err)
	}
	for _, line := range listed.GetStandings() {
		if player != "" && line.GetPlayer().GetId() == player || player == "" && line.GetGameId() == game.GetId() {
			return listed.GetStandings(), line, nil
		}
	}
	return nil, nil, nil
}

// checkRanks checks the ranks of a part of the standings. Entries that count come first, in
// the order of their scores and, among equal scores, of their times; the close of a race ends
// attempts at once, though servers log that one after another. The ranks are consecutive, and
// begin with 1 unless there are enough neighbors above own. If this does not hold, the error is
// a *Difference.
func checkRanks(challenge *pb.Challenge, lines []*pb.Standing, own *pb.Standing) error {
	race, closed := challenge.GetKind() == pb.ChallengeKind_CHALLENGE_KIND_RACE, challenge.GetCloseTime().AsTime()
	above := int32(slices.Index(lines, own))
	if want := min(own.GetRank()-1, neighbors); above < want {
		return differs(0, "the standings show rank %d, but only %d entries above it", own.GetRank(), above)
	}
	for i, line := range lines {
		if i == 0 || line.GetRank() == 0 {
			continue
		}
		previous := lines[i-1]
		ended := line.GetTime().AsTime()
		earlier := ended.Before(previous.GetTime().AsTime()) && (!race || ended.Before(closed))
		switch {
		case line.GetRank() != previous.GetRank()+1:
			return differs(0, "the standings show rank %d after rank %d", line.GetRank(), previous.GetRank())
		case line.GetScore() > previous.GetScore():
			return differs(0, "the standings show %d points below %d points", line.GetScore(), previous.GetScore())
		case line.GetScore() == previous.GetScore() && earlier:
			return differs(0, "the standings show the later of two equal scores first, at rank %d", previous.GetRank())
		}
	}
	return nil
}
