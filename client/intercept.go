package client

import (
	"context"
	"errors"
	"io"
	"path"
	"strings"
	"sync/atomic"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
)

// wire records what a client has learned about its connections, to explain why a
// connection could not be made.
type wire struct {
	encrypted bool
	answered  atomic.Bool // whether a server has answered, possibly with an error
	heard     atomic.Pointer[heard]
}

// callTimeout is the timeout of every call except streams, including gRPC's retries.
const callTimeout = 10 * time.Second

// unary limits the time of all calls, and converts their errors to *Error.
func (w *wire) unary(
	ctx context.Context, method string, request, reply any,
	conn *grpc.ClientConn, invoke grpc.UnaryInvoker, opts ...grpc.CallOption,
) error {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	var header metadata.MD
	opts = append(opts, grpc.Header(&header))
	err := invoke(ctx, method, request, reply, conn, opts...)
	// The retry policy of serviceConfig ends once the header of an answer has arrived.
	for try := 1; try < 4 && len(header) > 0 && status.Code(err) == codes.Unavailable && reads(method); try++ {
		header = nil
		err = invoke(ctx, method, request, reply, conn, opts...)
	}
	// If the server answers the last attempt before the request is sent, grpc-go 1.85 returns
	// io.EOF in place of the status. The status is UNAVAILABLE, because nothing else is retried.
	// Call once more to get it with its details.
	if errors.Is(err, io.EOF) {
		err = invoke(ctx, method, request, reply, conn, opts...)
	}
	if errors.Is(err, io.EOF) {
		err = status.Error(codes.Unavailable, "the server is unavailable")
	}
	w.hear(header)
	return w.explain(err)
}

// reads reports whether a call changes nothing.
func reads(method string) bool {
	name := path.Base(method)
	return strings.HasPrefix(name, "Get") || strings.HasPrefix(name, "List")
}

// stream converts the errors of all streams to *Error.
func (w *wire) stream(
	ctx context.Context, desc *grpc.StreamDesc, conn *grpc.ClientConn,
	method string, open grpc.Streamer, opts ...grpc.CallOption,
) (grpc.ClientStream, error) {
	stream, err := open(ctx, desc, conn, method, opts...)
	if err != nil {
		return nil, w.explain(err)
	}
	return errorStream{stream, w}, nil
}

type errorStream struct {
	grpc.ClientStream
	wire *wire
}

func (s errorStream) RecvMsg(m any) error {
	err := s.ClientStream.RecvMsg(m)
	// As in unary, io.EOF may stand for the status of a stream whose connection broke before the
	// request was sent. The status follows. After the end of a stream, io.EOF follows.
	if errors.Is(err, io.EOF) {
		err = s.ClientStream.RecvMsg(m)
	}
	return s.wire.explain(err)
}

func (s errorStream) SendMsg(m any) error { return s.wire.explain(s.ClientStream.SendMsg(m)) }

// explain is like FromError but adds the cause of a failed connection. It returns nil and
// io.EOF, which ends a stream, unchanged.
func (w *wire) explain(err error) error {
	if err == nil || errors.Is(err, io.EOF) {
		w.answered.Store(true)
		return err
	}
	out := FromError(err)
	if out.Reason != "" {
		w.answered.Store(true)
	}
	if cause := causeIn(out.Message, w.encrypted); out.unreachable() || out.Reason == "" && cause == CauseNotGridstand {
		out.Cause = cause
	}
	switch out.Cause {
	case CauseNoPlainText, CauseSilent, CauseNoBackend:
		if w.answered.Load() {
			out.Cause = CauseUnknown // The address is right: the server may be restarting.
		}
	}
	return out
}
