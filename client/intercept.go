package client

import (
	"context"
	"errors"
	"io"
	"strings"
	"sync/atomic"
	"time"

	"github.com/cenkalti/backoff/v5"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
)

// wire intercepts the calls of a client.
type wire struct {
	readTries int // how often a call that only reads is tried at most
	heard     atomic.Pointer[heard]
}

// callTimeout is the timeout of every call except streams, including the repetitions of a read.
const callTimeout = 10 * time.Second

// maxReadTries is how often a call that only reads is tried, unless Config.Once is set.
const maxReadTries = 4

// unary limits the time of all calls, repeats reads that no server answers, and converts errors to
// *Error. It repeats only reads, because the error does not tell whether an earlier try took effect,
// and not by a retry policy of gRPC, which ends with the header of an answer. It does not begin a pause
// that the timeout would end, because the error would then not say what the server asked for.
func (w *wire) unary(
	ctx context.Context, method string, request, reply any,
	conn *grpc.ClientConn, invoke grpc.UnaryInvoker, opts ...grpc.CallOption,
) error {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	var header metadata.MD
	opts = append(opts, grpc.Header(&header))
	// If connections are refused, a read fails after 0.1 + 0.2 + 0.4 seconds.
	pace := &backoff.ExponentialBackOff{
		InitialInterval: 100 * time.Millisecond, Multiplier: 2, RandomizationFactor: 0.2, MaxInterval: time.Second,
	}
	for attempt := 1; ; attempt++ {
		err := invoke(ctx, method, request, reply, conn, opts...)
		// If a connection breaks before the request is sent, grpc-go 1.85 may return io.EOF in place of
		// the status.
		if errors.Is(err, io.EOF) {
			err = status.Error(codes.Unavailable, "the server is unavailable")
		}
		w.hear(header)
		err = converted(err)
		if err == nil || attempt >= w.readTries || !reads(method) {
			return err
		}
		e := FromError(err)
		if e.Code != codes.Unavailable && !e.brokenOff() {
			return err
		}
		wait := pause(pace, e)
		if deadline, _ := ctx.Deadline(); time.Until(deadline) < wait {
			return err
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return converted(status.FromContextError(ctx.Err()).Err())
		}
	}
}

// reads reports whether a call of the contract changes nothing.
func reads(method string) bool {
	_, name, _ := strings.Cut(strings.TrimPrefix(method, "/"), "/")
	return strings.HasPrefix(name, "Get") || strings.HasPrefix(name, "List")
}

// stream converts the errors of all streams to *Error.
func stream(
	ctx context.Context, desc *grpc.StreamDesc, conn *grpc.ClientConn,
	method string, open grpc.Streamer, opts ...grpc.CallOption,
) (grpc.ClientStream, error) {
	stream, err := open(ctx, desc, conn, method, opts...)
	if err != nil {
		return nil, converted(err)
	}
	return errorStream{stream}, nil
}

type errorStream struct{ grpc.ClientStream }

func (s errorStream) RecvMsg(m any) error {
	err := s.ClientStream.RecvMsg(m)
	// As in unary, io.EOF may stand for the status of a stream whose connection broke before the
	// request was sent. The status follows. After the end of a stream, io.EOF follows.
	if errors.Is(err, io.EOF) {
		err = s.ClientStream.RecvMsg(m)
	}
	return converted(err)
}

func (s errorStream) SendMsg(m any) error { return converted(s.ClientStream.SendMsg(m)) }

// converted returns the *Error for an error of gRPC. It returns nil and io.EOF, which ends a stream,
// unchanged.
func converted(err error) error {
	if err == nil || errors.Is(err, io.EOF) {
		return err
	}
	return FromError(err)
}
