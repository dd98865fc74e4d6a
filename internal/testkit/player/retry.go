package playertest

import (
	"context"
	"time"

	waittest "github.com/gridstand/gridstand/internal/testkit/wait"
)

// Retry makes a call, and repeats it while again returns true for its error, until ctx is done or
// waittest.Patience has passed. It returns the last error.
func Retry(ctx context.Context, call func(context.Context) error, again func(error) bool) error {
	ctx, cancel := context.WithTimeout(ctx, waittest.Patience)
	defer cancel()
	for {
		err := call(ctx)
		if !again(err) || Pause(ctx) != nil {
			return err
		}
	}
}

// Pause waits before a retry. It waits for less time than servers ask for, because their hints are
// meant for real clients.
func Pause(ctx context.Context) error {
	select {
	case <-time.After(5 * time.Millisecond):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
