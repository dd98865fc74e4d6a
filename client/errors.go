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

// The errors of the contract, to be compared with errors.Is.
var (
	ErrVersionConflict    = errors.New("the game has moved on")
	ErrIllegalMove        = errors.New("the rules forbid this move")
	ErrNotYourTurn        = errors.New("it is another seat's turn")
	ErrGameOver           = errors.New("the game is over")
	ErrGameNotStarted     = errors.New("the game has not started")
	ErrUndoNotAllowed     = errors.New("nothing can be taken back here")
	ErrSeatTaken          = errors.New("the seat is taken")
	ErrNameTaken          = errors.New("the name is taken")
	ErrGameNotFound       = errors.New("no such game")
	ErrPlayerNotFound     = errors.New("no such player")
	ErrVariantNotFound    = errors.New("no such variant")
	ErrNoScore            = errors.New("no score on this board")
	ErrNotSeated          = errors.New("no seat in this game")
	ErrBadToken           = errors.New("the server does not know this token")
	ErrRateLimited        = errors.New("too many calls")
	ErrTooManyGames       = errors.New("too many open games")
	ErrGameDamaged        = errors.New("the game is damaged")
	ErrServerUnavailable  = errors.New("the server is not available")
	ErrStorageUnavailable = errors.New("the server's store is not available")

	// ErrInvalid is any field error; Error.Violations says which fields.
	ErrInvalid = errors.New("invalid request")

	// ErrUnreachable is a connection that could not be made or that broke: no
	// server said anything. It is also an ErrServerUnavailable.
	ErrUnreachable = errors.New("no server answers")

	// ErrUnsettled is added where it is not known whether a call took effect.
	ErrUnsettled = errors.New("it is not known whether this took effect")

	// ErrClearText refuses to send a token without TLS that was used over TLS
	// before. Nothing was sent.
	ErrClearText = errors.New("a token that was used over TLS is not sent in clear text")

	// ErrBadStream is a server that breaks the contract's promises.
	ErrBadStream = errors.New("the server sent something that does not fit")
)

// SequenceError is an ErrBadStream: a message of a Watch with a version that
// does not follow on the one before, since events are missing or come again.
type SequenceError struct {
	// Version that came.
	Version int32
	// After is the version that was seen last.
	After int32
}

// Error implements error.
func (e *SequenceError) Error() string {
	return fmt.Sprintf("%v: version %d after version %d", ErrBadStream, e.Version, e.After)
}

// Unwrap implements errors.Is for ErrBadStream.
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
	pb.ReasonRateLimited:        ErrRateLimited,
	pb.ReasonTooManyGames:       ErrTooManyGames,
	pb.ReasonGameDamaged:        ErrGameDamaged,
	pb.ReasonServerUnavailable:  ErrServerUnavailable,
	pb.ReasonStorageUnavailable: ErrStorageUnavailable,
}

// Violation is a field that a server refused.
type Violation struct {
	// Field by its path in the request, such as "seats[1].bot".
	Field string
	// Description of what is wrong, to be read after the field.
	Description string
}

// Error is what a server (or the connection to it) answered instead of what
// was asked for. Compare it with the Err… values by errors.Is; a canceled or
// expired one also is context.Canceled or context.DeadlineExceeded.
type Error struct {
	// Code is gRPC's.
	Code codes.Code
	// Reason out of the contract, such as "GAME_OVER"; empty where the error
	// is none of the contract's.
	Reason string
	// Message for people, one line without control characters.
	Message string
	// Metadata is whatever varies in the message; nil for none.
	Metadata map[string]string
	// Violations are the refused fields of an ErrInvalid.
	Violations []Violation
	// Cause of an ErrUnreachable, as far as a Client can tell.
	Cause Cause
	// RetryAfter is how long the server asks to wait; 0 where it does not say.
	RetryAfter time.Duration

	status *status.Status // as it came; nil of an Error made here
}

// maxMessage bounds the messages of servers, which end up on somebody's screen.
const maxMessage = 500

// Error implements error: the message, or what the code says without one.
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

// Is implements errors.Is for the Err… values and those of contexts.
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

// GRPCStatus is the error as gRPC knows it, for status.FromError and
// status.Code.
func (e *Error) GRPCStatus() *status.Status {
	if e.status != nil {
		return e.status
	}
	return status.New(e.Code, e.Message)
}

// FromError turns any error of a call into *Error, nil into nil.
func FromError(err error) *Error {
	if err == nil {
		return nil
	}
	var already *Error
	if errors.As(err, &already) {
		return already
	}
	// Not status.FromError, which puts the text of whatever wraps the status
	// into its message.
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

// CurrentVersion is the version that the game had when err was returned, where
// err says so: with ErrVersionConflict, and with ErrGameDamaged the last one
// that can be read.
func CurrentVersion(err error) (int32, bool) {
	var e *Error
	if !errors.As(err, &e) {
		return 0, false
	}
	v, err := strconv.ParseInt(e.Metadata["version"], 10, 32)
	return int32(v), err == nil && v >= 0
}
