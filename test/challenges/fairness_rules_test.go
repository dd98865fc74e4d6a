package challenges_test

import (
	"fmt"

	"google.golang.org/protobuf/proto"

	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// presence says whether a response must contain something.
type presence int

const (
	no presence = iota
	yes
	// either is for data that is not secret but may appear late.
	either
)

// want is the expected response for a reader: either an error with the reason and, if set, the
// metadata, or a response with or without the seed and a board that only the owner's attempt had.
type want struct {
	reason      string
	metadata    map[string]string
	board, seed presence
}

func refused(reason string) want { return want{reason: reason} }

// invalidArgument is the reason in an error about an invalid field.
const invalidArgument = "INVALID_ARGUMENT"

// public reports whether the server shows the seed to everyone.
func (env *env) public(s stage) bool { return s < expired && (env.kind == rematch || s == closed) }

// gone returns the reason for refusing a request if the challenge or attempt that it names has been
// removed. The reason is empty if the request names neither.
func (env *env) gone(request proto.Message) string {
	if m, ok := request.(interface{ GetChallengeId() string }); ok && m.GetChallengeId() != "" {
		return pb.ReasonChallengeNotFound
	}
	if m, ok := request.(*pb.GetChallengeRequest); ok && m.GetDaily().GetDate() != "" {
		return pb.ReasonChallengeNotFound
	}
	if m, ok := request.(interface{ GetGameId() string }); ok && m.GetGameId() != "" {
		return pb.ReasonGameNotFound
	}
	return ""
}

// namesTomorrow reports whether a request names tomorrow's daily game.
func (env *env) namesTomorrow(request proto.Message) bool {
	if env.tomorrow == nil {
		return false
	}
	named, ok := request.(interface{ GetChallengeId() string })
	m, _ := request.(*pb.GetChallengeRequest)
	return ok && named.GetChallengeId() == env.tomorrow.GetId() || m.GetDaily().GetDate() == env.tomorrow.GetDate()
}

// unseen reports whether the challenge is open and its first board is hidden from the reader,
// because the reader has no attempt. The reader with the role other has an account and never begins
// an attempt, and so makes every call that a player could make before their attempt.
func (env *env) unseen(s stage, r *reader) bool {
	return (env.kind == daily || env.kind == link) && s < closed && r.game == nil
}

// begins returns the first stage of this kind of challenge.
func (env *env) begins() stage {
	if env.kind == race {
		return waiting
	}
	return running
}

// ownsIt reports whether the reader is the owner.
func (env *env) ownsIt(r *reader) bool { return r.player != nil && r.player.ID == env.owner.player.ID }

const timeFormat = "2006-01-02T15:04:05.000Z"

// attempt is the rule for reading the owner's attempt.
func (env *env) attempt(s stage, r *reader) want {
	if hidden := env.hides(s, env.ownsIt(r) || r.finishes); hidden.reason != "" {
		return hidden
	}
	return env.shown(s, s >= over)
}

// hides returns the expected error if an attempt is hidden from a reader, and the zero want
// if it is not. knows reports whether the reader may already know its tiles.
func (env *env) hides(s stage, knows bool) want {
	metadata := map[string]string{"challenge_id": env.challenge.GetId()}
	switch {
	case s == expired:
		return refused(pb.ReasonGameNotFound)
	case env.kind == race && s < running:
		if s == countdown {
			metadata["open_time"] = env.challenge.GetOpenTime().AsTime().Format(timeFormat)
		}
		return want{reason: pb.ReasonChallengeNotOpen, metadata: metadata}
	case env.kind != race && env.kind != rematch && s < closed && !knows:
		metadata["close_time"] = env.challenge.GetCloseTime().AsTime().Format(timeFormat)
		return want{reason: pb.ReasonChallengeOpen, metadata: metadata}
	}
	return want{}
}

// shown is the rule for a response that contains the owner's attempt.
func (env *env) shown(s stage, finished bool) want {
	if finished && env.public(s) {
		return want{board: yes, seed: yes}
	}
	return want{board: yes}
}

// own is the rule for reading the reader's own attempt.
func (env *env) own(s stage, r *reader) want {
	if env.ownsIt(r) {
		return env.attempt(s, r)
	}
	if hidden := env.hides(s, true); hidden.reason != "" {
		return hidden
	}
	finished := r.finishes || s == closed || s == over && env.kind == race
	if finished && env.public(s) {
		return want{seed: yes}
	}
	return want{}
}

// status returns the status of the owner's attempt.
func (env *env) status(s stage) pb.GameStatus {
	if s >= over {
		return pb.GameStatus_GAME_STATUS_FINISHED
	}
	return pb.GameStatus_GAME_STATUS_ACTIVE
}

// listed is the rule for lists of games that may contain the owner's attempt.
func (env *env) listed(s stage, r *reader, list *pb.ListGamesRequest) want {
	if s == expired {
		return want{}
	}
	if list.GetStatus() != pb.GameStatus_GAME_STATUS_UNSPECIFIED && list.GetStatus() != env.status(s) {
		return want{seed: either}
	}
	of := list.GetPlayerId() != "" || list.GetPlayerName() != ""
	shows := false
	switch env.kind {
	case race:
		shows = s >= running
	case rematch:
		shows = true
	default:
		shows = of && (env.ownsIt(r) || s == closed)
	}
	if !shows {
		return want{seed: env.either(s)}
	}
	listed := env.shown(s, s >= over)
	listed.seed = max(listed.seed, env.either(s)) // other attempts in the list may show the seed
	return listed
}

// either is the rule for a seed that a response may contain once it is public.
func (env *env) either(s stage) presence {
	if env.public(s) {
		return either
	}
	return no
}

func (w want) String() string {
	if w.reason != "" {
		return w.reason
	}
	return fmt.Sprintf("board %d, seed %d", w.board, w.seed)
}
