package rpc

import (
	"errors"

	"google.golang.org/grpc/codes"

	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
	"github.com/gridstand/gridstand/server/internal/challenge"
	"github.com/gridstand/gridstand/server/internal/invalid"
)

// timeFormat is the format of times in error metadata: RFC 3339 with milliseconds, in
// UTC.
const timeFormat = "2006-01-02T15:04:05.000Z"

// challengeFailures maps the errors of package challenge to failures.
var challengeFailures = failureTable{
	challenge.ErrNotFound:       notFound(pb.ReasonChallengeNotFound, "there is no challenge with this id, or it has expired"),
	challenge.ErrNoDaily:        notFound(pb.ReasonChallengeNotFound, "this variant has no daily game"),
	challenge.ErrNoDay:          notFound(pb.ReasonChallengeNotFound, "there is no daily game on this day, or it has expired"),
	challenge.ErrClosed:         precondition(pb.ReasonChallengeClosed, "the challenge is closed"),
	challenge.ErrStarted:        precondition(pb.ReasonChallengeStarted, "the race has started"),
	challenge.ErrFull:           precondition(pb.ReasonChallengeFull, "the race is full"),
	challenge.ErrNotCreator:     {code: codes.PermissionDenied, reason: pb.ReasonNotCreator, message: "only the creator of the race can do this"},
	challenge.ErrNotEntered:     precondition(pb.ReasonNotEntered, "you are not on the roster of this race"),
	challenge.ErrTooFewEntrants: precondition(pb.ReasonTooFewEntrants, "a race needs two entrants, at least one of them a player"),
}

// errSeedHidden is the failure for a rematch of a game that is not over.
var errSeedHidden = precondition(pb.ReasonSeedHidden, "the game is not over")

// notYet returns the failure for a challenge that is not open yet.
func notYet(reason string, e *challenge.NotOpenError) *failure {
	f := precondition(reason, e.Error())
	f.metadata = map[string]string{"challenge_id": e.ChallengeID}
	if !e.At.IsZero() {
		f.metadata["open_time"] = e.At.UTC().Format(timeFormat)
	}
	return f
}

// challengeFailure returns the failure for an error of package challenge, or nil for any
// other error.
func challengeFailure(err error) *failure {
	var (
		notOpen *challenge.NotOpenError
		hidden  *challenge.HiddenError
	)
	switch {
	case errors.As(err, &notOpen):
		return notYet(pb.ReasonChallengeNotOpen, notOpen)
	case errors.As(err, &hidden):
		f := precondition(pb.ReasonChallengeOpen, hidden.Error())
		f.metadata = map[string]string{"challenge_id": hidden.ChallengeID, "close_time": hidden.Until.UTC().Format(timeFormat)}
		return f
	case errors.Is(err, challenge.ErrNotRace):
		field := &invalid.Error{Field: "challenge_id", Description: "must be the id of a race"}
		return &failure{code: codes.InvalidArgument, message: field.Error(), field: field}
	}
	return challengeFailures.of(err)
}
