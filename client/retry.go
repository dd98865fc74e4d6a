package client

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/cenkalti/backoff/v5"
	"google.golang.org/grpc/codes"

	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// newBackOff paces tries: 0.25 s, 0.5 s, … 4 s, each half more or less, so that
// the many who lost the same server do not all come back at once.
func newBackOff() *backoff.ExponentialBackOff {
	return &backoff.ExponentialBackOff{
		InitialInterval: 250 * time.Millisecond, Multiplier: 2, RandomizationFactor: 0.5, MaxInterval: 4 * time.Second,
	}
}

// maxRetryAfter is the longest pause that a server is granted before it is
// tried again.
const maxRetryAfter = time.Minute

// pause is how long to wait after e: what the server asked for, and the back-off
// on top, which also spreads those who were all told the same.
func pause(b *backoff.ExponentialBackOff, e *Error) time.Duration {
	return min(e.RetryAfter, maxRetryAfter) + b.NextBackOff()
}

func wait(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// unsettled reports whether the call that failed so may have taken effect, or
// may do so when it is made again. The caller's own context must not be the
// reason.
func (e *Error) unsettled() bool {
	switch e.Code {
	case codes.Unavailable, codes.DeadlineExceeded, codes.Canceled:
		return true
	default:
		return e.Reason == pb.ReasonRateLimited || e.brokenOff()
	}
}

// brokenOff reports whether a stream or call was cut before the server's answer
// was complete, as proxies do. No server answers so itself, but gRPC gives it
// the code of a fault in the server and has only words to tell them apart.
func (e *Error) brokenOff() bool {
	return e.Code == codes.Internal && e.Reason == "" &&
		(strings.HasPrefix(e.Message, "stream terminated by RST_STREAM") ||
			strings.HasPrefix(e.Message, "server closed the stream without sending trailers"))
}

// retry makes a call until its outcome is known, with growing waits: until ctx
// ends, and then the error is ErrUnsettled as well, or at most tries times where
// that is not 0. The call must be one that takes effect once however often it is
// made.
func retry[T any](
	ctx context.Context, c *Client, tries int,
	onRetry func(attempt int, wait time.Duration, err error),
	call func(context.Context) (T, error),
) (T, error) {
	pace := c.newBackOff()
	for attempt := 1; ; attempt++ {
		result, err := call(ctx)
		if err == nil {
			return result, nil
		}
		e := FromError(err)
		if !e.unsettled() || attempt == tries {
			return result, err
		}
		d := pause(pace, e)
		if onRetry != nil && ctx.Err() == nil {
			onRetry(attempt, d, e)
		}
		if wait(ctx, d) == nil {
			continue
		}
		if tries == 0 {
			err = fmt.Errorf("%w: %w", ErrUnsettled, err)
		}
		return result, err
	}
}
