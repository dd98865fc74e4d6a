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

// newBackOff returns the waits between retries: 0.25 s, 0.5 s, … 4 s, each with up to
// half as much jitter, so that clients of a lost server do not all reconnect at once.
func newBackOff() *backoff.ExponentialBackOff {
	return &backoff.ExponentialBackOff{
		InitialInterval: 250 * time.Millisecond, Multiplier: 2, RandomizationFactor: 0.5, MaxInterval: 4 * time.Second,
	}
}

// maxRetryAfter bounds the pause that a server can ask for.
const maxRetryAfter = time.Minute

// pause returns how long to wait after e: what the server asked for plus the backoff,
// which spreads clients that were all told the same.
func pause(b *backoff.ExponentialBackOff, e *Error) time.Duration {
	return min(e.RetryAfter, maxRetryAfter) + b.NextBackOff()
}

// wait waits, or returns an error when ctx ends or the client is closed.
func (c *Client) wait(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	case <-c.closed.Done():
	}
	return c.ended(ctx)
}

// unsettled reports whether a call with this error may have taken effect, or may take
// effect if it is made again.
func (e *Error) unsettled() bool {
	switch e.Code {
	case codes.Unavailable, codes.DeadlineExceeded, codes.Canceled:
		return true
	default:
		return e.Reason == pb.ReasonRateLimited || e.brokenOff()
	}
}

// brokenOff reports whether a proxy or a broken connection cut off a server's answer.
// gRPC gives it the code of a fault in the server; only the message tells them apart.
func (e *Error) brokenOff() bool {
	return e.Code == codes.Internal && e.Reason == "" &&
		(strings.HasPrefix(e.Message, "stream terminated by RST_STREAM") ||
			strings.HasPrefix(e.Message, "server closed the stream without sending trailers"))
}

// retry makes a call until its outcome is known, with growing waits. It stops when ctx
// ends or the client is closed, or after a number of tries unless that is 0; the error
// then is ErrUnsettled as well. The call must take effect once however often it is made.
func retry[T any](
	ctx context.Context, c *Client, tries int,
	onRetry func(attempt int, wait time.Duration, err error),
	call func(context.Context) (T, error),
) (T, error) {
	if err := c.closedError(); err != nil {
		var none T
		return none, err
	}
	pace := c.newBackOff()
	for attempt := 1; ; attempt++ {
		result, err := call(ctx)
		if err == nil {
			return result, nil
		}
		e := FromError(err)
		if !e.unsettled() {
			return result, err
		}
		if attempt == tries {
			return result, fmt.Errorf("%w: %w", ErrUnsettled, err)
		}
		d := pause(pace, e)
		if onRetry != nil && c.ended(ctx) == nil {
			onRetry(attempt, d, e)
		}
		if ended := c.wait(ctx, d); ended != nil {
			return result, fmt.Errorf("%w: %w (%w)", ErrUnsettled, err, ended)
		}
	}
}
