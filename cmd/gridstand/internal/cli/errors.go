package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"google.golang.org/grpc/codes"

	"github.com/gridstand/gridstand/client"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/app"
	"github.com/gridstand/gridstand/internal/loopback"
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
	cause := client.CauseOf(err)
	if cause == client.CauseUnknown && !errors.Is(err, client.ErrUnreachable) {
		return err.Error()
	}
	if p.over != nil {
		return "the game server does not answer; try again in a moment"
	}
	server, said := p.server(), strings.TrimSuffix(err.Error(), ".")
	if cause != client.CauseUnknown {
		return fmt.Sprintf("%s %s (%s). %s", server, cause, said, remedies[cause])
	}
	text := fmt.Sprintf("no server answers at %s (%s). ", server, said)
	normal, err := client.NormalTarget(server)
	switch {
	case err == nil && normal == client.DefaultTarget:
		return text + "Start one with: " + name + " play --local, where your local games are, or: gridstand-server"
	case err == nil && loopback.Is(normal):
		return text + "Start one with: " + name + " play --local --server " + normal
	default:
		return text + "Check that it is running and that the address is correct; --server or $GRIDSTAND_SERVER selects another server"
	}
}

// exactTime is the format of times that a user compares with a clock.
const exactTime = "2006-01-02 15:04:05 MST"

// remedies maps the cause of a failed connection to advice on which flags to change. It
// covers only failures in which the server responded.
var remedies = map[client.Cause]string{
	client.CauseNoTLS:        "Omit --tls and --ca",
	client.CauseNoPlainText:  "Try --tls, or --ca if it has its own certificate authority, or another port",
	client.CauseUntrusted:    "Use --ca if it has its own certificate authority, and --server with the name in the certificate",
	client.CauseSilent:       "It may be overloaded or suspended: try again later, or restart it",
	client.CauseNotGridstand: "Check the address and the port; --server or $GRIDSTAND_SERVER selects another server",
	client.CauseNoBackend:    "Check that the server behind it is running, or try again later",
}
