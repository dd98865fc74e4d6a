package cli

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"google.golang.org/grpc/codes"

	"github.com/gridstand/gridstand/client"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/app"
	"github.com/gridstand/gridstand/internal/usage"
	"github.com/gridstand/gridstand/internal/verify"
)

// Exit codes.
const (
	exitOK          = 0
	exitFailed      = 1
	exitUsage       = 2
	exitMissing     = 3
	exitInterrupted = 130
)

// missingError means that something does not exist or is not available yet.
type missingError struct{ error }

func (e *missingError) Unwrap() error { return e.error }

func missingf(format string, args ...any) error { return &missingError{fmt.Errorf(format, args...)} }

// isMissing reports whether an error is a missingError.
func isMissing(err error) bool {
	_, missing := errors.AsType[*missingError](err)
	return missing
}

// exitCode returns the exit code for an error.
func exitCode(ctx context.Context, err error) int {
	var wrong *usage.Error
	switch {
	case errors.Is(err, app.ErrInterrupted), ctx.Err() != nil:
		return exitInterrupted
	case errors.As(err, &wrong), errors.Is(err, client.ErrInvalid):
		return exitUsage
	case isMissing(err), client.FromError(err).Code == codes.NotFound,
		errors.Is(err, verify.ErrOpen), errors.Is(err, verify.ErrLive), errors.Is(err, verify.ErrSealed),
		errors.Is(err, client.ErrChallengeOpen), errors.Is(err, client.ErrChallengeNotOpen),
		errors.Is(err, client.ErrSeedHidden):
		return exitMissing
	default:
		return exitFailed
	}
}

// explain returns the line to print for an error.
func (p *program) explain(err error) string {
	if errors.Is(err, client.ErrClearText) {
		return err.Error() + ". Add --tls, or --ca if the server has its own certificate authority. If it no longer uses TLS, " +
			p.typed("account", "new", "<name>", "--replace") + " creates a new account there"
	}
	if at, ok := client.ChallengeTime(err); ok {
		what := "closes"
		if errors.Is(err, client.ErrChallengeNotOpen) {
			what = "opens"
		}
		return fmt.Sprintf("%v: it %s at %s", err, what, at.UTC().Format(exactTime))
	}
	switch {
	case !errors.Is(err, client.ErrUnreachable):
		return err.Error()
	case p.over != nil:
		return "the game server does not answer; try again in a moment"
	}
	return fmt.Sprintf("cannot reach the server at %s (%s). Check the address (--server or $%s) and --tls, "+
		"and --ca if the server has its own certificate authority. To start a server here: %s play --local",
		p.client.Target(), dialing.ReplaceAllString(strings.TrimSuffix(err.Error(), "."), ""), serverVariable, name)
}

// dialing matches what Go says before the reason why a connection failed, such as "connection refused".
var dialing = regexp.MustCompile(`^dial tcp( \S+)?: (connect: )?`)

// exactTime is the format of times that a user compares with a clock.
const exactTime = "2006-01-02 15:04:05 MST"
