package client

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// Errors that servers return, one for each reason in the contract except
// ORIGIN_NOT_ALLOWED, which only web pages get. Compare them using errors.Is.
var (
	// ErrVersionConflict is returned if the game is no longer at the version in the call.
	// CurrentVersion returns its current version.
	ErrVersionConflict = withReason(pb.ReasonVersionConflict, "the game has moved on")
	// ErrIllegalMove is returned for a move that the rules forbid.
	ErrIllegalMove = withReason(pb.ReasonIllegalMove, "the rules forbid this move")
	// ErrNotYourTurn is returned for a move during another seat's turn.
	ErrNotYourTurn = withReason(pb.ReasonNotYourTurn, "it is another seat's turn")
	// ErrGameOver is returned for a call that would change a finished game.
	ErrGameOver = withReason(pb.ReasonGameOver, "the game is over")
	// ErrGameNotStarted is returned for a move while seats are still open, or while the
	// race has not opened; ChallengeTime then returns the opening time, if it is known.
	ErrGameNotStarted = withReason(pb.ReasonGameNotStarted, "the game has not started")
	// ErrGameTooLong is returned for a move or an undo if the game has as many events as the
	// server allows. The player can only resign.
	ErrGameTooLong = withReason(pb.ReasonGameTooLong, "the game has too many events")
	// ErrUndoNotAllowed is returned if there is nothing to undo, if more than one human
	// plays, if seats were still open at the version to return to, or in an attempt at a
	// challenge.
	ErrUndoNotAllowed = withReason(pb.ReasonUndoNotAllowed, "undo is not possible in this game")
	// ErrSeatTaken is returned to a player who tries to take a seat that is taken, or to
	// join a game without an open seat.
	ErrSeatTaken = withReason(pb.ReasonSeatTaken, "the seat is taken")
	// ErrNameTaken is returned if the name belongs to another account or is reserved.
	ErrNameTaken = withReason(pb.ReasonNameTaken, "the name is taken")
	// ErrGameNotFound is returned if there is no game with the id.
	ErrGameNotFound = withReason(pb.ReasonGameNotFound, "no such game")
	// ErrPlayerNotFound is returned if there is no account with the id or name.
	ErrPlayerNotFound = withReason(pb.ReasonPlayerNotFound, "no such player")
	// ErrVariantNotFound is returned if there is no variant with the id.
	ErrVariantNotFound = withReason(pb.ReasonVariantNotFound, "no such variant")
	// ErrNoScore is returned for a player who is not on a leaderboard or in the standings
	// of a challenge.
	ErrNoScore = withReason(pb.ReasonNoScore, "no score on this board")
	// ErrNotSeated is returned if an account without a seat in the game tries to move,
	// undo or resign.
	ErrNotSeated = withReason(pb.ReasonNotSeated, "no seat in this game")
	// ErrBadToken is returned if the server does not know the token, or if a call that
	// needs a token has none.
	ErrBadToken = withReason(pb.ReasonBadToken, "the server does not know this token")
	// ErrBadCredential is returned to an SSH host whose credential is unknown to the
	// server or has been revoked.
	ErrBadCredential = withReason(pb.ReasonBadCredential, "the server does not know this service credential")
	// ErrNotOverSSH is returned if an SSH host makes a call that SSH hosts are not
	// allowed to make.
	ErrNotOverSSH = withReason(pb.ReasonNotOverSSH, "this is not possible over SSH")
	// ErrKeyNotLinked is returned to an SSH host for a key that is not linked to any
	// account. CreatePlayer creates an account for the key.
	ErrKeyNotLinked = withReason(pb.ReasonKeyNotLinked, "this SSH key is not linked to an account")
	// ErrKeyTaken is returned for an SSH key that is linked to another account.
	ErrKeyTaken = withReason(pb.ReasonKeyTaken, "this SSH key is linked to another account")
	// ErrKeyNotFound is returned for an SSH key that is not linked to the account.
	ErrKeyNotFound = withReason(pb.ReasonKeyNotFound, "this SSH key is not linked to the account")
	// ErrTooManyKeys is returned if the account has reached the maximum number of SSH
	// keys.
	ErrTooManyKeys = withReason(pb.ReasonTooManyKeys, "too many SSH keys")
	// ErrRenamedRecently is returned for another name less than 30 days after the last change.
	ErrRenamedRecently = withReason(pb.ReasonRenamedRecently, "the name was changed recently")
	// ErrLimitedSession is returned to a session from a link that tries to change tokens, keys
	// or sessions.
	ErrLimitedSession = withReason(pb.ReasonLimitedSession, "a session cannot change tokens, keys or sessions")
	// ErrSessionLinkNotFound is returned for the code of a link that is unknown, used or
	// expired.
	ErrSessionLinkNotFound = withReason(pb.ReasonSessionLinkNotFound, "no such link")
	// ErrSessionNotFound is returned for a session that the account does not have.
	ErrSessionNotFound = withReason(pb.ReasonSessionNotFound, "no such session")
	// ErrTooManySessions is returned if the account has reached the maximum number of
	// sessions.
	ErrTooManySessions = withReason(pb.ReasonTooManySessions, "too many sessions")
	// ErrReactionsOff is returned if the server has no reactions.
	ErrReactionsOff = withReason(pb.ReasonReactionsOff, "the server has no reactions")
	// ErrRateLimited is returned if the caller makes more calls than the server allows.
	// Error.RetryAfter is the time to wait.
	ErrRateLimited = withReason(pb.ReasonRateLimited, "too many calls")
	// ErrTooManyGames is returned by servers of earlier versions if the account has reached
	// their limit on open games.
	ErrTooManyGames = withReason(pb.ReasonTooManyGames, "too many open games")
	// ErrMessageTooLarge is returned for a request that is larger than
	// Limits.message_bytes. It is also the error for a RESOURCE_EXHAUSTED without a
	// reason, with which gRPC itself refuses such a request.
	ErrMessageTooLarge = withReason(pb.ReasonMessageTooLarge, "the message is too large")
	// ErrGameDamaged is returned if the store has lost or altered events of a game.
	// CurrentVersion returns the last readable version.
	ErrGameDamaged = withReason(pb.ReasonGameDamaged, "the game is damaged")
	// ErrServerUnavailable is returned if the server is stopping or full, or if no server
	// was reached.
	ErrServerUnavailable = withReason(pb.ReasonServerUnavailable, "the server is not available")
	// ErrStorageUnavailable is returned by a server that cannot reach its store.
	ErrStorageUnavailable = withReason(pb.ReasonStorageUnavailable, "the server's store is not available")
	// ErrChallengeNotFound is returned if there is no challenge with the id.
	ErrChallengeNotFound = withReason(pb.ReasonChallengeNotFound, "no such challenge")
	// ErrChallengeOpen is returned for a request to see another player's attempt while
	// the challenge is still open. ChallengeTime returns the closing time.
	ErrChallengeOpen = withReason(pb.ReasonChallengeOpen, "the challenge is still open")
	// ErrChallengeNotOpen is returned for an attempt at a challenge that has not opened.
	// ChallengeTime returns the opening time, unless it is a race that has not started.
	ErrChallengeNotOpen = withReason(pb.ReasonChallengeNotOpen, "the challenge is not open yet")
	// ErrChallengeClosed is returned for a new attempt at a challenge that has closed.
	ErrChallengeClosed = withReason(pb.ReasonChallengeClosed, "the challenge is closed")
	// ErrChallengeStarted is returned to a player who tries to join a race that has
	// started.
	ErrChallengeStarted = withReason(pb.ReasonChallengeStarted, "the race has started")
	// ErrChallengeFull is returned to a player who tries to join a race that is full.
	ErrChallengeFull = withReason(pb.ReasonChallengeFull, "the race is full")
	// ErrNotCreator is returned for an action that is reserved for the creator of a race, and for
	// its players once the creator has left.
	ErrNotCreator = withReason(pb.ReasonNotCreator, "only the creator of the race can do this")
	// ErrNotEntered is returned for an attempt at a race that the account has not joined.
	ErrNotEntered = withReason(pb.ReasonNotEntered, "the account has not joined the race")
	// ErrTooFewEntrants is returned when starting a race that has only one entrant, or
	// only bots.
	ErrTooFewEntrants = withReason(pb.ReasonTooFewEntrants, "a race needs two entrants, at least one of them a player")
	// ErrSeedHidden is returned for a rematch of a game whose seed is still hidden.
	ErrSeedHidden = withReason(pb.ReasonSeedHidden, "the tiles of this game are still hidden")

	// ErrInvalid is returned for a request with a malformed field. If a server refused
	// it, Error.Violations names the fields.
	ErrInvalid = errors.New("invalid request")
)

// Errors that originate in this package.
var (
	// ErrUnreachable is returned if no connection could be made, or if it broke or the time
	// of the call ran out before a server answered. The error also matches
	// ErrServerUnavailable.
	ErrUnreachable = errors.New("no server answers")
	// ErrUnsettled wraps the error of a call that may have taken effect.
	ErrUnsettled = errors.New("it is not known whether this took effect")
	// ErrNotBot is returned by LogInBot if the account in the store is a person's.
	ErrNotBot = errors.New("the stored account is not a bot's")
	// ErrClearText is returned by LogIn, LogInBot, Create, Adopt, Restore and Rotate if
	// they would have to send, in clear text, a token that was used over TLS before. Tokens
	// from Config.Token, SetToken and As are not checked.
	ErrClearText = errors.New("a token that was used over TLS is not sent in clear text")
	// ErrBadStream is returned for a reply or message that violates the contract.
	ErrBadStream = errors.New("the server sent something unexpected")
)

// SequenceError is the ErrBadStream of a Watch that received a message whose version does
// not follow the previous one, because events are missing or repeated.
type SequenceError struct {
	// Version is the version in the message.
	Version int32
	// After is the last version received before the message.
	After int32
}

// Error implements error.
func (e *SequenceError) Error() string {
	return fmt.Sprintf("%v: version %d after version %d", ErrBadStream, e.Version, e.After)
}

// Unwrap returns ErrBadStream.
func (e *SequenceError) Unwrap() error { return ErrBadStream }

// byReason holds the errors of servers by their reasons.
var byReason = map[string]error{}

// withReason makes the error for a reason in the contract.
func withReason(reason, text string) error {
	err := errors.New(text)
	byReason[reason] = err
	return err
}

// Violation is a request field that a server refused.
type Violation struct {
	// Field is the path of the field in the request, such as "seats[1].bot".
	Field string
	// Description is the problem, as a predicate that follows the field in a sentence.
	Description string
}

// Error is an error from a server or from the connection to it. Use errors.Is to compare
// it with the Err… values, context.Canceled and context.DeadlineExceeded.
type Error struct {
	// Code is the code of the gRPC status.
	Code codes.Code
	// Reason is the reason as named in the contract, such as "GAME_OVER". It may be
	// empty.
	Reason string
	// Message is a human-readable line without control characters.
	Message string
	// Metadata contains the variable parts of the message, by name. It may be nil.
	Metadata map[string]string
	// Violations are the refused fields of an ErrInvalid.
	Violations []Violation
	// RetryAfter is how long the server asks the client to wait, or 0 if it does not.
	RetryAfter time.Duration

	status *status.Status // the status as received, or nil for errors from this package
}

// maxMessage is the maximum length of a server's message, which programs show to users.
const maxMessage = 500

// Error returns the message, or the name of the code if the message is empty.
func (e *Error) Error() string {
	message := e.Message
	if message == "" {
		message = e.Code.String()
	}
	for _, v := range e.Violations {
		if !strings.Contains(message, v.Description) {
			message += "; " + v.Field + " " + v.Description
		}
	}
	return message
}

// Is implements errors.Is for the Err… values and the context errors.
func (e *Error) Is(err error) bool {
	switch err {
	case ErrInvalid:
		return e.Code == codes.InvalidArgument
	case ErrUnreachable:
		return e.unreachable()
	case ErrMessageTooLarge:
		return e.Reason == pb.ReasonMessageTooLarge || e.tooLarge()
	case ErrServerUnavailable:
		return e.Reason == pb.ReasonServerUnavailable || e.unreachable()
	case context.Canceled:
		return e.Code == codes.Canceled
	case context.DeadlineExceeded:
		return e.Code == codes.DeadlineExceeded
	default:
		return e.Reason != "" && err == byReason[e.Reason]
	}
}

func (e *Error) unreachable() bool {
	return e.Reason == "" && (e.Code == codes.Unavailable || e.Code == codes.DeadlineExceeded)
}

// tooLarge reports whether gRPC itself refused the request because of its size.
func (e *Error) tooLarge() bool {
	return e.Code == codes.ResourceExhausted && e.Reason == "" && !e.brokenOff()
}

// GRPCStatus returns the gRPC status, for status.FromError and status.Code.
func (e *Error) GRPCStatus() *status.Status {
	if e.status != nil {
		return e.status
	}
	return status.New(e.Code, e.Message)
}

// FromError converts a call's error to an *Error. It returns nil if err is nil.
func FromError(err error) *Error {
	if err == nil {
		return nil
	}
	if already, ok := errors.AsType[*Error](err); ok {
		return already
	}
	st := status.FromContextError(err)
	// status.FromError would add the messages of the wrapping errors.
	var carrier interface{ GRPCStatus() *status.Status }
	if errors.As(err, &carrier) {
		st = carrier.GRPCStatus()
	}
	e := &Error{Code: st.Code(), Message: CleanText(plainMessage(st.Message()), maxMessage), status: st}
	for _, detail := range st.Details() {
		switch detail := detail.(type) {
		case *errdetails.ErrorInfo:
			if detail.GetDomain() == pb.ErrorDomain {
				e.Reason, e.Metadata = detail.GetReason(), detail.GetMetadata()
			}
		case *errdetails.BadRequest:
			for _, v := range detail.GetFieldViolations() {
				e.Violations = append(e.Violations, Violation{
					Field:       CleanText(v.GetField(), maxMessage),
					Description: CleanText(v.GetDescription(), maxMessage),
				})
			}
		case *errdetails.RetryInfo:
			e.RetryAfter = max(0, detail.GetRetryDelay().AsDuration())
		}
	}
	return e
}

// plainMessage strips gRPC's wrapping from the message of a failed connection, which leaves Go's own, such as
// "dial tcp 127.0.0.1:2048: connect: connection refused". If a web server has answered, it strips the page.
func plainMessage(message string) string {
	message, _, _ = strings.Cut(message, "\ndata: ")
	if _, reason, wrapped := strings.Cut(message, `connection error: desc = "`); wrapped {
		message = strings.TrimPrefix(strings.TrimSuffix(reason, `"`), "transport: ")
		message = strings.TrimPrefix(message, "Error while dialing: ")
		message = strings.TrimPrefix(message, "authentication handshake failed: ")
	}
	return message
}

// CurrentVersion returns the version that err contains, if any: the game's current
// version for ErrVersionConflict, or the last readable version for ErrGameDamaged.
func CurrentVersion(err error) (int32, bool) {
	e, ok := errors.AsType[*Error](err)
	if !ok {
		return 0, false
	}
	v, err := strconv.ParseInt(e.Metadata["version"], 10, 32)
	return int32(v), err == nil && v >= 0
}
