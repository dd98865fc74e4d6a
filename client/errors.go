package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gridstand/gridstand/client/session"
	"github.com/gridstand/gridstand/client/tui"
	"github.com/gridstand/gridstand/client/verify"
)

// Exit codes.
const (
	exitOK          = 0
	exitFailed      = 1
	exitUsage       = 2
	exitMissing     = 3
	exitInterrupted = 130
)

// usageError is a command line that cannot be understood.
type usageError struct{ error }

func (e *usageError) Unwrap() error { return e.error }

func usagef(format string, args ...any) error { return &usageError{fmt.Errorf(format, args...)} }

// usage makes what checks arguments return usage errors.
func usage(check cobra.PositionalArgs) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if err := check(cmd, args); err != nil {
			return &usageError{err}
		}
		return nil
	}
}

// missingError is something asked for that is not there, or not yet.
type missingError struct{ error }

func (e *missingError) Unwrap() error { return e.error }

func missingf(format string, args ...any) error { return &missingError{fmt.Errorf(format, args...)} }

// exitCode is the exit code for an error.
func exitCode(ctx context.Context, err error) int {
	var wrong *usageError
	var missing *missingError
	switch {
	case errors.Is(err, tui.ErrInterrupted), ctx.Err() != nil:
		return exitInterrupted
	case errors.As(err, &wrong):
		return exitUsage
	case errors.As(err, &missing), errors.Is(err, verify.ErrLive),
		errors.Is(err, session.ErrGameNotFound), errors.Is(err, session.ErrPlayerNotFound),
		errors.Is(err, session.ErrVariantNotFound), errors.Is(err, session.ErrNoScore):
		return exitMissing
	default:
		return exitFailed
	}
}

// explain is an error in a line for people.
func (p *program) explain(err error) string {
	if errors.Is(err, session.ErrUnreachable) {
		return fmt.Sprintf("no server answers at %s (%s). Start one with: %s play --local, or: go run ./server",
			p.server(), strings.TrimSuffix(err.Error(), "."), name)
	}
	return err.Error()
}
