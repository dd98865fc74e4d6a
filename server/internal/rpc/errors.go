package rpc

import (
	"cmp"
	"context"
	"errors"
	"strconv"
	"strings"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/protoadapt"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/gridstand/gridstand/game"
	"github.com/gridstand/gridstand/game/replay"
	"github.com/gridstand/gridstand/game/variants"
	"github.com/gridstand/gridstand/internal/convert"
	"github.com/gridstand/gridstand/internal/id"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
	"github.com/gridstand/gridstand/server/internal/account"
	"github.com/gridstand/gridstand/server/internal/challenge"
	"github.com/gridstand/gridstand/server/internal/front"
	"github.com/gridstand/gridstand/server/internal/gamelog"
	"github.com/gridstand/gridstand/server/internal/invalid"
	"github.com/gridstand/gridstand/server/internal/leaderboard"
	"github.com/gridstand/gridstand/server/internal/match"
	"github.com/gridstand/gridstand/server/internal/store"
	"github.com/gridstand/gridstand/server/limits"
)

// failure is an entry of the contract's error table.
type failure struct {
	code    codes.Code
	reason  string
	message string
	// metadata holds the variable parts of the message.
	metadata map[string]string
	// retry is the time that the caller should wait before a retry, or 0 for no hint.
	retry time.Duration
	field *invalid.Error
}

func (f *failure) Error() string { return f.message }

// GRPCStatus returns the status that grpc-go sends, with its details.
func (f *failure) GRPCStatus() *status.Status {
	var details []protoadapt.MessageV1
	if f.field != nil {
		details = append(details, &errdetails.BadRequest{FieldViolations: []*errdetails.BadRequest_FieldViolation{
			{Field: f.field.Field, Description: f.field.Description},
		}})
	} else if f.reason != "" {
		details = append(details, &errdetails.ErrorInfo{Domain: pb.ErrorDomain, Reason: f.reason, Metadata: f.metadata})
	}
	if f.retry > 0 {
		details = append(details, &errdetails.RetryInfo{RetryDelay: durationpb.New(f.retry)})
	}
	s, err := status.New(f.code, f.message).WithDetails(details...)
	if err != nil {
		return status.New(f.code, f.message)
	}
	return s
}

// Pushback is the trailer with the retry hint for gRPC clients, in milliseconds.
const Pushback = "grpc-retry-pushback-ms"

// trailer returns the retry hint in the form that gRPC clients' retry policies understand.
func (f *failure) trailer() metadata.MD {
	if f.retry == 0 {
		return nil
	}
	return metadata.Pairs(Pushback, strconv.FormatInt(f.retry.Milliseconds(), 10))
}

// How long a caller should wait before a retry: while a server is being replaced, and
// while the store is restarting.
const (
	serverRetry  = 500 * time.Millisecond
	storageRetry = time.Second
)

func precondition(reason, message string) *failure {
	return &failure{code: codes.FailedPrecondition, reason: reason, message: message}
}

func notFound(reason, message string) *failure {
	return &failure{code: codes.NotFound, reason: reason, message: message}
}

func serverUnavailable(message string) *failure {
	return &failure{
		code: codes.Unavailable, reason: pb.ReasonServerUnavailable,
		message: message, retry: serverRetry,
	}
}

// Refuse returns the status of a call that exceeded a limit before it reached the Service.
func Refuse(e *limits.ExceededError) error { return rateLimited(e) }

// ErrStopping is the status of calls to a server that is stopping.
var ErrStopping error = errStopping

var errStopping = serverUnavailable("this server is stopping")

func rateLimited(e *limits.ExceededError) *failure {
	return &failure{
		code: codes.ResourceExhausted, reason: pb.ReasonRateLimited,
		message: e.Error(), retry: e.Retry, metadata: e.Metadata(),
	}
}

var (
	errGameNotFound = notFound(pb.ReasonGameNotFound, "there is no game with this id; a finished game is deleted after some time, but its score stays")
	errGameIDForm   = notFound(pb.ReasonGameNotFound,
		"there is no game with this id; a complete id has "+strconv.Itoa(id.Length)+" characters from a–z and 2–7")
	errPlayerNotFound  = notFound(pb.ReasonPlayerNotFound, "there is no player with this id")
	errNameNotFound    = notFound(pb.ReasonPlayerNotFound, "there is no player with this name")
	errVariantNotFound = notFound(pb.ReasonVariantNotFound, "there is no variant with this id; the variants are "+variantIDs())
	errNoToken         = &failure{code: codes.Unauthenticated, reason: pb.ReasonBadToken, message: "this call needs a token; CreatePlayer returns one"}
	errBadToken        = &failure{code: codes.Unauthenticated, reason: pb.ReasonBadToken, message: "the token is not valid: it is mistyped or was replaced, or its session has ended"}
	errTokenForm       = &failure{code: codes.Unauthenticated, reason: pb.ReasonBadToken, message: `the authorization header must be "Bearer", a space and the token`}
)

// variantIDs lists the ids of the variants in a sentence.
func variantIDs() string {
	return strings.Join(convert.All(variants.All(), func(v game.Variant) string { return v.ID }), ", ")
}

// Errors for calls by SSH hosts and calls about SSH keys.
var (
	errBadCredential = &failure{
		code: codes.Unauthenticated, reason: pb.ReasonBadCredential,
		message: "the service credential is unknown or revoked: create another with gridstand-server ssh-credential create, and give it to the SSH host; " +
			"a call needs it as a bearer token, and the fingerprint of one key in " + sshKeyHeader,
	}
	errNotOverSSH     = &failure{code: codes.PermissionDenied, reason: pb.ReasonNotOverSSH, message: "this is not possible over SSH; it needs the account's own token"}
	errLimitedSession = &failure{
		code: codes.PermissionDenied, reason: pb.ReasonLimitedSession,
		message: "a session from a link cannot change tokens, keys or sessions; use the account's own token or SSH key",
	}
)

// Reasons for refusing a call other than an exceeded limit.
const (
	wrongToken      = "wrong_token"
	wrongCredential = "wrong_credential"
)

// storageUnavailable is the failure for calls that fail because the store does not
// respond.
var storageUnavailable = &failure{
	code: codes.Unavailable, reason: pb.ReasonStorageUnavailable,
	message: "the store does not answer; retry the call", retry: storageRetry,
}

// errInternal is the failure for a panic and for an unknown error.
var errInternal = &failure{code: codes.Internal, message: "internal error"}

// failures maps errors of the lower packages to failures that are always the same.
var failures = map[error]*failure{
	match.ErrNotSeated:         {code: codes.PermissionDenied, reason: pb.ReasonNotSeated, message: "you do not have a seat in this game, or not this seat"},
	match.ErrSeatTaken:         precondition(pb.ReasonSeatTaken, "the seat is taken"),
	match.ErrUndoAttempt:       precondition(pb.ReasonUndoNotAllowed, "moves of an attempt at a challenge cannot be undone"),
	match.ErrStopping:          errStopping,
	replay.ErrGameOver:         precondition(pb.ReasonGameOver, "the game is over"),
	replay.ErrNotStarted:       precondition(pb.ReasonGameNotStarted, "the game is waiting for players"),
	replay.ErrNoUndo:           precondition(pb.ReasonUndoNotAllowed, "there is no move to undo, or others play in this game"),
	replay.ErrNotYourTurn:      precondition(pb.ReasonNotYourTurn, "it is another seat's turn"),
	gamelog.ErrNotFound:        errGameNotFound,
	leaderboard.ErrNoScore:     notFound(pb.ReasonNoScore, "the player is not on this board"),
	account.ErrNotFound:        errPlayerNotFound,
	account.ErrLinkNotFound:    notFound(pb.ReasonSessionLinkNotFound, "this link is unknown, used or expired; a link works once, for ten minutes. Print another: gridstand account link, or over SSH: link"),
	account.ErrSessionNotFound: notFound(pb.ReasonSessionNotFound, "your account has no session with this id"),
	account.ErrTooManySessions: {
		code: codes.ResourceExhausted, reason: pb.ReasonTooManySessions,
		message: "the account has the maximum number of sessions; end one first",
	},
	account.ErrKeyNotLinked: {code: codes.Unauthenticated, reason: pb.ReasonKeyNotLinked, message: "this SSH key is not linked to an account; CreatePlayer creates one"},
	account.ErrKeyNotFound:  notFound(pb.ReasonKeyNotFound, "this SSH key is not linked to your account"),
	account.ErrKeyTaken:     {code: codes.AlreadyExists, reason: pb.ReasonKeyTaken, message: "this SSH key is linked to another account"},
	account.ErrTooManyKeys: {
		code: codes.ResourceExhausted, reason: pb.ReasonTooManyKeys,
		message: "your account has the maximum number of SSH keys; remove one first",
	},
	challenge.ErrNotFound:       notFound(pb.ReasonChallengeNotFound, "there is no challenge with this id, or it has expired"),
	challenge.ErrNoDaily:        notFound(pb.ReasonChallengeNotFound, "this server has no such daily game"),
	challenge.ErrNoDay:          notFound(pb.ReasonChallengeNotFound, "there is no daily game on this day, or it has expired"),
	challenge.ErrNoVariant:      errVariantNotFound,
	challenge.ErrClosed:         precondition(pb.ReasonChallengeClosed, "the challenge is closed"),
	challenge.ErrStarted:        precondition(pb.ReasonChallengeStarted, "the race has started"),
	challenge.ErrFull:           precondition(pb.ReasonChallengeFull, "the race is full"),
	challenge.ErrNotCreator:     {code: codes.PermissionDenied, reason: pb.ReasonNotCreator, message: "only the creator of the race can do this"},
	challenge.ErrNotEntered:     precondition(pb.ReasonNotEntered, "you are not on the roster of this race"),
	challenge.ErrTooFewEntrants: precondition(pb.ReasonTooFewEntrants, "a race needs two entrants, at least one of them a player"),
}

// toStatus translates an error from any lower package into an error that the contract
// defines. It logs unknown errors and does not send their messages to the client.
func (s *Service) toStatus(ctx context.Context, method string, err error) *failure {
	if known, ok := errors.AsType[*failure](err); ok {
		return known
	}
	for known, f := range failures {
		if errors.Is(err, known) {
			return f
		}
	}
	if f := detailed(err); f != nil {
		return f
	}
	if reason, f := s.refusal(ctx, err); f != nil {
		s.Refused(reason, front.AddressOf(ctx))
		return f
	}
	if f := s.unplayable(method, err); f != nil {
		return f
	}
	return s.unanswered(ctx, method, err)
}

// detailed returns the failure for an error that depends on the game, on the challenge or on a field
// of the request, or nil for any other error.
func detailed(err error) *failure {
	var (
		field    *invalid.Error
		conflict *match.VersionConflictError
		notOpen  *challenge.NotOpenError
		hidden   *challenge.HiddenError
	)
	switch {
	case errors.As(err, &field):
		return &failure{code: codes.InvalidArgument, message: field.Error(), field: field}
	case errors.As(err, &conflict):
		version := strconv.Itoa(int(conflict.Version))
		return &failure{
			code: codes.Aborted, reason: pb.ReasonVersionConflict,
			message: "the game is at version " + version + ", not at that of the call: " +
				"get the game, and call again with its version",
			metadata: map[string]string{"version": version},
		}
	case errors.Is(err, game.ErrIllegalMove):
		f := precondition(pb.ReasonIllegalMove, err.Error())
		f.metadata = map[string]string{"detail": err.Error()}
		return f
	case errors.As(err, &notOpen):
		return notYet(pb.ReasonChallengeNotOpen, notOpen)
	case errors.As(err, &hidden):
		return notClosed(pb.ReasonChallengeOpen, hidden.Error(), hidden.Challenge)
	}
	return nil
}

// timeFormat is the format of times in error metadata: RFC 3339 with milliseconds, in
// UTC.
const timeFormat = "2006-01-02T15:04:05.000Z"

// notYet returns the failure for a challenge that is not open yet.
func notYet(reason string, e *challenge.NotOpenError) *failure {
	f := precondition(reason, e.Error())
	f.metadata = map[string]string{"challenge_id": e.Challenge.ID}
	if opens := e.Challenge.OpenTime; !opens.IsZero() {
		f.metadata["open_time"] = opens.UTC().Format(timeFormat)
	}
	return f
}

// notClosed returns the failure for what stays hidden until a challenge is closed.
func notClosed(reason, message string, c *challenge.Challenge) *failure {
	f := precondition(reason, message)
	f.metadata = map[string]string{"challenge_id": c.ID, "close_time": c.CloseTime.UTC().Format(timeFormat)}
	return f
}

// refusal returns the failure for a call that is refused because of a limit, a wrong token or
// a wrong credential, and the reason to count it by. It returns nil for any other error. It counts wrong
// tokens and credentials toward the limit of the caller's address. Valid ones do not get here, so wrong ones
// from the same address never lock them out.
func (s *Service) refusal(ctx context.Context, err error) (reason string, f *failure) {
	if errors.Is(err, account.ErrBadToken) || errors.Is(err, account.ErrBadCredential) {
		err = cmp.Or(s.wrong.take(front.AddressOf(ctx), 1), err)
	}
	exceeded, ok := errors.AsType[*limits.ExceededError](err)
	switch {
	case ok:
		return exceeded.Field, rateLimited(exceeded)
	case errors.Is(err, account.ErrBadToken):
		return wrongToken, errBadToken
	case errors.Is(err, account.ErrBadCredential):
		return wrongCredential, errBadCredential
	}
	return "", nil
}

// unplayable returns the failure for a game that this server cannot serve, or that accepts no
// more moves, or nil for any other error.
func (s *Service) unplayable(method string, err error) *failure {
	damaged, ok := errors.AsType[*gamelog.DamagedError](err)
	switch {
	case ok:
		if !damaged.Quarantined { // That was logged, or the operator did it.
			s.damaged.Do(func() {
				s.Logger.Error("game damaged", "id", "game-damaged", "game", damaged.GameID, "call", method, "version", damaged.Version, "detail", damaged.Detail)
			})
		}
		version := strconv.Itoa(int(damaged.Version))
		return &failure{
			code: codes.DataLoss, reason: pb.ReasonGameDamaged,
			message:  "the game was damaged in the store; its last readable version is " + version,
			metadata: map[string]string{"version": version},
		}
	case errors.Is(err, replay.ErrUnknown):
		s.tooNew.Do(func() {
			s.Logger.Warn("game needs a newer server", "id", "game-too-new", "call", method, "error", err)
		})
		return serverUnavailable("this server is too old for this game")
	case errors.Is(err, match.ErrTooLong):
		exceeded := s.Limits.Exceeded(limits.EventsPerGame, "events in a game", 0)
		f := precondition(pb.ReasonGameTooLong, "the game has "+strconv.Itoa(exceeded.Value)+" events, the most on this server; resign to end it")
		f.metadata = exceeded.Metadata()
		return f
	}
	return nil
}

// unanswered returns the failure for a call that got no answer: because its client left,
// because of the store, or for an unknown reason.
func (s *Service) unanswered(ctx context.Context, method string, err error) *failure {
	stored, ok := errors.AsType[*store.Error](err)
	switch {
	case ok && stored.Kind == store.QueueFull:
		s.Metrics.StorageFailed(err)
		return serverUnavailable("this server is full")
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return &failure{code: codes.DeadlineExceeded, message: "the call's deadline has passed"}
	case errors.Is(ctx.Err(), context.Canceled):
		return &failure{code: codes.Canceled, message: "the call was canceled"}
	case status.Code(err) == codes.Unavailable, status.Code(err) == codes.Canceled:
		// The connection or the stream closed during a write to the stream, but gRPC has
		// not yet canceled the context.
		return &failure{code: codes.Canceled, message: "the connection has closed"}
	case store.IsError(err):
		s.Metrics.StorageFailed(err)
		s.Logger.Debug("storage failed", "call", method, "error", err)
		return storageUnavailable
	default:
		s.Logger.Error("internal error", "id", "internal-error", "call", method, "error", err)
		return errInternal
	}
}

// missing returns the field error for a required field that is empty.
func missing(field string) error { return invalid.Field(field, "must not be empty") }
