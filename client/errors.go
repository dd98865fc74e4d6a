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

// Errors of servers, one for each reason of the contract. Compare them with
// errors.Is.
var (
	// ErrVersionConflict is returned if the game is no longer at the version that
	// the call named. CurrentVersion returns the newer one.
	ErrVersionConflict = errors.New("the game has moved on")
	// ErrIllegalMove is returned for a move that the rules forbid.
	ErrIllegalMove = errors.New("the rules forbid this move")
	// ErrNotYourTurn is returned for a move while another seat is to move.
	ErrNotYourTurn = errors.New("it is another seat's turn")
	// ErrGameOver is returned for a call that would change a finished game.
	ErrGameOver = errors.New("the game is over")
	// ErrGameNotStarted is returned for a move while seats are still open.
	ErrGameNotStarted = errors.New("the game has not started")
	// ErrUndoNotAllowed is returned if there is nothing to undo, or more than one
	// human plays.
	ErrUndoNotAllowed = errors.New("nothing can be taken back here")
	// ErrSeatTaken is returned to a player who joins a seat of another, or a game
	// without an open seat.
	ErrSeatTaken = errors.New("the seat is taken")
	// ErrNameTaken is returned for the name of another account.
	ErrNameTaken = errors.New("the name is taken")
	// ErrGameNotFound is returned for the id of no game.
	ErrGameNotFound = errors.New("no such game")
	// ErrPlayerNotFound is returned for the id of no account.
	ErrPlayerNotFound = errors.New("no such player")
	// ErrVariantNotFound is returned for the id of no variant.
	ErrVariantNotFound = errors.New("no such variant")
	// ErrNoScore is returned for a player who has no score on a leaderboard.
	ErrNoScore = errors.New("no score on this board")
	// ErrNotSeated is returned for a move, an undo or a resignation by an account
	// that has no seat in the game.
	ErrNotSeated = errors.New("no seat in this game")
	// ErrBadToken is returned for a token that the server does not know, and if one
	// is needed and there is none.
	ErrBadToken = errors.New("the server does not know this token")
	// ErrBadCredential is returned to an SSH host whose credential the server does not
	// know, or no longer.
	ErrBadCredential = errors.New("the server does not know this service credential")
	// ErrNotOverSSH is returned for a call that SSH hosts must not make.
	ErrNotOverSSH = errors.New("this is not possible over SSH")
	// ErrKeyNotLinked is returned to an SSH host for a key that is linked to no
	// account: CreatePlayer makes one.
	ErrKeyNotLinked = errors.New("this SSH key is linked to no account")
	// ErrKeyTaken is returned for an SSH key that is linked to another account.
	ErrKeyTaken = errors.New("this SSH key is linked to another account")
	// ErrKeyNotFound is returned for an SSH key that is not linked to the account.
	ErrKeyNotFound = errors.New("this SSH key is not linked to the account")
	// ErrTooManyKeys is returned if the account has as many SSH keys as an account can
	// have.
	ErrTooManyKeys = errors.New("too many SSH keys")
	// ErrRateLimited is returned for more calls than the server allows;
	// Error.RetryAfter says how long to wait.
	ErrRateLimited = errors.New("too many calls")
	// ErrTooManyGames is returned if the account has as many open games as the
	// server allows.
	ErrTooManyGames = errors.New("too many open games")
	// ErrGameDamaged is returned if events of a game were lost or altered in the
	// store. CurrentVersion returns the last one that can be read.
	ErrGameDamaged = errors.New("the game is damaged")
	// ErrServerUnavailable is returned by a server that stops or is full, and if
	// none was reached.
	ErrServerUnavailable = errors.New("the server is not available")
	// ErrStorageUnavailable is returned by a server that cannot reach its store.
	ErrStorageUnavailable = errors.New("the server's store is not available")

	// ErrInvalid is returned for a request with a malformed field;
	// Error.Violations names the fields, if a server refused it.
	ErrInvalid = errors.New("invalid request")
)

// Errors that this package adds.
var (
	// ErrUnreachable is returned if no connection could be made, or it broke before
	// a server answered; CauseOf may tell why. It is also an ErrServerUnavailable.
	ErrUnreachable = errors.New("no server answers")
	// ErrUnsettled wraps the error of a call that may have taken effect.
	ErrUnsettled = errors.New("it is not known whether this took effect")
	// ErrClearText is returned by LogIn, Restore and RotateStored instead of sending a
	// token in clear text that was used over TLS before. Config.Token, SetToken and As
	// send any token.
	ErrClearText = errors.New("a token that was used over TLS is not sent in clear text")
	// ErrBadStream is returned for an answer that breaks a promise of the contract.
	ErrBadStream = errors.New("the server sent something that does not fit")
)

// SequenceError is an ErrBadStream for a message of a Watch whose version does not
// follow the last one: events are missing, or come again.
type SequenceError struct {
	// Version of the message.
	Version int32
	// After is the last version before it.
	After int32
}

// Error implements error.
func (e *SequenceError) Error() string {
	return fmt.Sprintf("%v: version %d after version %d", ErrBadStream, e.Version, e.After)
}

// Unwrap returns ErrBadStream.
func (e *SequenceError) Unwrap() error { return ErrBadStream }

var byReason = map[string]error{
	pb.ReasonVersionConflict:    ErrVersionConflict,
	pb.ReasonIllegalMove:        ErrIllegalMove,
	pb.ReasonNotYourTurn:        ErrNotYourTurn,
	pb.ReasonGameOver:           ErrGameOver,
	pb.ReasonGameNotStarted:     ErrGameNotStarted,
	pb.ReasonUndoNotAllowed:     ErrUndoNotAllowed,
	pb.ReasonSeatTaken:          ErrSeatTaken,
	pb.ReasonNameTaken:          ErrNameTaken,
	pb.ReasonGameNotFound:       ErrGameNotFound,
	pb.ReasonPlayerNotFound:     ErrPlayerNotFound,
	pb.ReasonVariantNotFound:    ErrVariantNotFound,
	pb.ReasonNoScore:            ErrNoScore,
	pb.ReasonNotSeated:          ErrNotSeated,
	pb.ReasonBadToken:           ErrBadToken,
	pb.ReasonBadCredential:      ErrBadCredential,
	pb.ReasonNotOverSSH:         ErrNotOverSSH,
	pb.ReasonKeyNotLinked:       ErrKeyNotLinked,
	pb.ReasonKeyTaken:           ErrKeyTaken,
	pb.ReasonKeyNotFound:        ErrKeyNotFound,
	pb.ReasonTooManyKeys:        ErrTooManyKeys,
	pb.ReasonRateLimited:        ErrRateLimited,
	pb.ReasonTooManyGames:       ErrTooManyGames,
	pb.ReasonGameDamaged:        ErrGameDamaged,
	pb.ReasonServerUnavailable:  ErrServerUnavailable,
	pb.ReasonStorageUnavailable: ErrStorageUnavailable,
}

// Violation is a field that a server refused.
type Violation struct {
	// Field is its path in the request, such as "seats[1].bot".
	Field string
	// Description says what is wrong, to follow the field in a sentence.
	Description string
}

// Error is an error of a server, or of the connection to it. Compare it with the
// Err… values by errors.Is, and with context.Canceled and context.DeadlineExceeded.
type Error struct {
	// Code is the code of the gRPC status.
	Code codes.Code
	// Reason is the reason from the contract, such as "GAME_OVER"; empty if the
	// error has none.
	Reason string
	// Message is for people: one line without control characters.
	Message string
	// Metadata holds the values in the message; nil for none.
	Metadata map[string]string
	// Violations are the refused fields of an ErrInvalid.
	Violations []Violation
	// Cause of an ErrUnreachable, as far as it is known.
	Cause Cause
	// RetryAfter is how long the server asks to wait; 0 if it does not.
	RetryAfter time.Duration

	status *status.Status // as it came; nil of an Error made here
}

// maxMessage bounds the messages of servers, which programs show to people.
const maxMessage = 500

// Error returns the message, or the name of the code if there is none.
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

// Is implements errors.Is for the Err… values and the errors of contexts.
func (e *Error) Is(err error) bool {
	switch err {
	case ErrInvalid:
		return e.Code == codes.InvalidArgument
	case ErrUnreachable:
		return e.unreachable()
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

func (e *Error) unreachable() bool { return e.Code == codes.Unavailable && e.Reason == "" }

// GRPCStatus returns the gRPC status, for status.FromError and status.Code.
func (e *Error) GRPCStatus() *status.Status {
	if e.status != nil {
		return e.status
	}
	return status.New(e.Code, e.Message)
}

// FromError returns the error of a call as an *Error, nil for nil.
func FromError(err error) *Error {
	if err == nil {
		return nil
	}
	var already *Error
	if errors.As(err, &already) {
		return already
	}
	// status.FromError would put the text of the wrapping errors into the
	// message.
	var carrier interface{ GRPCStatus() *status.Status }
	if !errors.As(err, &carrier) {
		carrier = statusError{status.FromContextError(err)}
	}
	st := carrier.GRPCStatus()
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

type statusError struct{ *status.Status }

func (s statusError) GRPCStatus() *status.Status { return s.Status }

// CurrentVersion returns the version that err states: the game's current one with
// ErrVersionConflict, the last one that can be read with ErrGameDamaged.
func CurrentVersion(err error) (int32, bool) {
	var e *Error
	if !errors.As(err, &e) {
		return 0, false
	}
	v, err := strconv.ParseInt(e.Metadata["version"], 10, 32)
	return int32(v), err == nil && v >= 0
}
