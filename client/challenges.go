package client

import (
	"context"
	"errors"
	"time"

	"google.golang.org/protobuf/proto"

	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// NewChallenge creates a challenge. If the request has no request_id, NewChallenge
// chooses one, so that a lost reply does not create a second challenge.
//
// The errors are ErrVariantNotFound, ErrInvalid and ErrBadToken; for a rematch also
// ErrGameNotFound and ErrSeedHidden; for a race that follows another one also
// ErrChallengeNotFound, ErrChallengeNotOpen and ErrNotEntered.
func (c *Client) NewChallenge(ctx context.Context, request *pb.CreateChallengeRequest) (*pb.Challenge, error) {
	own := &pb.CreateChallengeRequest{RequestId: NewSecret()} // The caller may reuse the request.
	proto.Merge(own, request)
	response, err := retry(ctx, c, createTries, c.Challenges.CreateChallenge, own)
	return checkedChallenge(response.GetChallenge(), response.GetChallenge().GetId(), err)
}

// RaceNow enters the account into a race with others: one that waits for players, or a new one. If it
// already waits in a public race, RaceNow returns that one.
//
// The error is ErrBadToken.
func (c *Client) RaceNow(ctx context.Context) (*pb.Challenge, error) {
	response, err := retry(ctx, c, createTries, c.Challenges.RaceNow, &pb.RaceNowRequest{})
	return checkedChallenge(response.GetChallenge(), response.GetChallenge().GetId(), err)
}

// AddBot adds one of the server's bots to a race that the account may start and that has
// not started. Even if a reply is lost, AddBot adds only one bot.
//
// The errors are ErrChallengeNotFound, ErrChallengeStarted, ErrChallengeFull,
// ErrNotCreator, and ErrInvalid if there is no such bot or if the challenge is not a race.
func (c *Client) AddBot(ctx context.Context, challengeID, bot string) (*pb.Challenge, error) {
	if bot == "" { // A server would add the account itself.
		return nil, invalid("the name of the bot must not be empty")
	}
	request := &pb.JoinChallengeRequest{ChallengeId: challengeID, Bot: bot, RequestId: NewSecret()}
	response, err := retry(ctx, c, createTries, c.Challenges.JoinChallenge, request)
	return checkedChallenge(response.GetChallenge(), challengeID, err)
}

// Attempt returns the account's attempt at a challenge, creating it if necessary. An
// account has at most one attempt at a challenge.
//
// The errors are ErrChallengeNotFound, ErrChallengeNotOpen, ErrChallengeClosed, and
// ErrNotEntered for a race that the account has not joined.
func (c *Client) Attempt(ctx context.Context, challengeID string) (Game, error) {
	if challengeID == "" { // A server would create another game.
		return Game{}, invalid("the challenge's id must not be empty")
	}
	response, err := retry(ctx, c, createTries, c.Games.CreateGame, &pb.CreateGameRequest{ChallengeId: challengeID})
	return checkedGame(response.GetGame(), response.GetGame().GetId(), err)
}

// ChallengeTime returns the time that err contains, if any: the closing time for
// ErrChallengeOpen and for ErrSeedHidden of an attempt, or the opening time for
// ErrChallengeNotOpen and ErrGameNotStarted.
func ChallengeTime(err error) (time.Time, bool) {
	e, ok := errors.AsType[*Error](err)
	if !ok {
		return time.Time{}, false
	}
	key := map[string]string{
		pb.ReasonChallengeOpen: "close_time", pb.ReasonSeedHidden: "close_time",
		pb.ReasonChallengeNotOpen: "open_time", pb.ReasonGameNotStarted: "open_time",
	}[e.Reason]
	at, err := time.Parse(time.RFC3339, e.Metadata[key])
	return at, err == nil
}
