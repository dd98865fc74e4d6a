package client

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/cenkalti/backoff/v5"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"

	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// newBackOff returns the backoff between retries: 0.25 s, 0.5 s, … 4 s, each with a
// jitter of up to 50%, so that the clients of a server that has failed do not all
// reconnect at the same time.
func newBackOff() *backoff.ExponentialBackOff {
	return &backoff.ExponentialBackOff{
		InitialInterval: 250 * time.Millisecond, Multiplier: 2, RandomizationFactor: 0.5, MaxInterval: 4 * time.Second,
	}
}

// maxRetryAfter is the longest pause that a client makes at the request of a server.
const maxRetryAfter = time.Minute

// pause returns the time to wait after e: the server's RetryAfter plus the backoff, whose
// jitter spreads out clients that were told to wait equally long.
func pause(b *backoff.ExponentialBackOff, e *Error) time.Duration {
	return min(e.RetryAfter, maxRetryAfter) + b.NextBackOff()
}

// wait waits for d. It returns an error if ctx is done or the client is closed in the
// meantime.
func (c *Client) wait(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
	case <-ctx.Done():
	case <-c.closed.Done():
	}
	return c.ended(ctx)
}

// unsettled reports whether a call with this error may have taken effect, or may succeed
// if it is repeated.
func (e *Error) unsettled() bool {
	switch e.Code {
	case codes.Unavailable, codes.DeadlineExceeded, codes.Canceled:
		return true
	default:
		return e.Reason == pb.ReasonRateLimited || e.brokenOff()
	}
}

// decided reports whether the server that refused the call with this error knew whether an earlier
// try had taken effect. A refusal of the token, a game that is gone or damaged, and errors without a
// reason, such as those of proxies, say nothing about it.
func (e *Error) decided() bool {
	switch e.Code {
	case codes.Unauthenticated, codes.NotFound, codes.DataLoss:
		return false
	default:
		return e.Reason != "" || e.Code == codes.InvalidArgument
	}
}

// failed reports whether the call itself may have taken effect although it must not be repeated: an
// internal error, and an error of a proxy that gRPC has no code for. gRPC reports a request that it cannot
// encode, and does not send, as an internal error, too.
func (e *Error) failed() bool {
	return e.Reason == "" && (e.Code == codes.Internal || e.Code == codes.Unknown) &&
		!strings.HasPrefix(e.Message, "grpc: error while marshaling")
}

// brokenOff reports whether a proxy or a broken connection cut off the server's answer.
// gRPC reports this with the same codes as an internal error of the server and a request
// that is too large; only the message differs.
func (e *Error) brokenOff() bool {
	return (e.Code == codes.Internal || e.Code == codes.ResourceExhausted) && e.Reason == "" &&
		(strings.HasPrefix(e.Message, "stream terminated by RST_STREAM") ||
			strings.HasPrefix(e.Message, "server closed the stream without sending trailers"))
}

type onRetryKey struct{}

// WithOnRetry returns a context in which the repeated calls that the package documentation
// lists report each repetition. Before each wait for another try, they call onRetry with
// the number of tries so far, the wait and the error. Calls that only read report nothing. Seat.Play reports in the
// same way that its stream was lost.
func WithOnRetry(ctx context.Context, onRetry func(attempt int, wait time.Duration, err error)) context.Context {
	return context.WithValue(ctx, onRetryKey{}, onRetry)
}

// onRetry calls the function from WithOnRetry, if any.
func onRetry(ctx context.Context, attempt int, wait time.Duration, err error) {
	if report, ok := ctx.Value(onRetryKey{}).(func(int, time.Duration, error)); ok {
		report(attempt, wait, err)
	}
}

// retry repeats a call with increasing delays until its outcome is known. It stops when ctx
// is done, when the client is closed, or after the given number of tries, unless that is 0.
// The error also matches ErrUnsettled if this or an earlier try may have taken effect. The call must be
// idempotent.
func retry[Request, Response any](
	ctx context.Context, c *Client, tries int,
	call func(context.Context, *Request, ...grpc.CallOption) (*Response, error), request *Request,
) (*Response, error) {
	if err := c.ended(ctx); err != nil {
		return nil, err
	}
	pace := c.newBackOff()
	doubtful := false // whether a try may have taken effect
	for attempt := 1; ; attempt++ {
		result, err := call(ctx, request)
		if err == nil {
			return result, nil
		}
		e := FromError(err)
		if !e.unsettled() {
			if e.failed() || doubtful && !e.decided() {
				err = fmt.Errorf("%w: %w", ErrUnsettled, err)
			}
			return result, err
		}
		doubtful = doubtful || e.Reason != pb.ReasonRateLimited
		if doubtful {
			err = fmt.Errorf("%w: %w", ErrUnsettled, err)
		}
		if attempt == tries {
			return result, err
		}
		d := pause(pace, e)
		if c.ended(ctx) == nil {
			onRetry(ctx, attempt, d, e)
		}
		if ended := c.wait(ctx, d); ended != nil {
			return result, fmt.Errorf("%w (%w)", err, ended)
		}
	}
}
