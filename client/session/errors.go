package session

import (
	"errors"
	"time"

	"google.golang.org/grpc/codes"
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

	// ErrBadStream is a server that breaks the promises of Watch.
	ErrBadStream = errors.New("the server sent something that does not fit")
)

// Violation is a field that a server refused.
type Violation struct {
	// Field by its path in the request, such as "seats[1].bot".
	Field string
	// Description of what is wrong, for people.
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
	// RetryAfter is how long the server asks to wait; 0 where it does not say.
	RetryAfter time.Duration
}

// Error implements error.
func (e *Error) Error() string { return e.Message }

// FromError turns any error of a call into *Error, nil into nil.
func FromError(err error) *Error { return nil }

// CurrentVersion is the version that the game had when err was returned, where
// err says so: with ErrVersionConflict, and with ErrGameDamaged the last one
// that can be read.
func CurrentVersion(err error) (int32, bool) { return 0, false }
