package client

import (
	"context"
	"errors"
	"io"
	"sync/atomic"

	"google.golang.org/grpc"
)

// wire is what a client knows of its connections, which tells apart why one could
// not be made.
type wire struct {
	encrypted bool
	answered  atomic.Bool // by a server, whatever it said
}

// unary makes the errors of all calls *Error.
func (w *wire) unary(
	ctx context.Context, method string, request, reply any,
	conn *grpc.ClientConn, invoke grpc.UnaryInvoker, opts ...grpc.CallOption,
) error {
	return w.explain(invoke(ctx, method, request, reply, conn, opts...))
}

// stream makes the errors of all streams *Error.
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

func (s errorStream) RecvMsg(m any) error { return s.wire.explain(s.ClientStream.RecvMsg(m)) }
func (s errorStream) SendMsg(m any) error { return s.wire.explain(s.ClientStream.SendMsg(m)) }

// explain is FromError with the cause of a missing connection, and without the
// trap of a nil *Error in an error; io.EOF, the end of a stream, stays itself.
func (w *wire) explain(err error) error {
	if err == nil || errors.Is(err, io.EOF) {
		w.noteAnswer()
		return err
	}
	out := FromError(err)
	if out.Reason != "" {
		w.noteAnswer()
	}
	if out.unreachable() {
		out.Cause = causeIn(out.Message, w.encrypted)
	}
	if out.Cause == CauseNoPlainText && w.answered.Load() {
		out.Cause = CauseUnknown // No more than a guess, and it did answer.
	}
	return out
}

// noteAnswer notes that a server was there. Most calls only look: they share the note.
func (w *wire) noteAnswer() {
	if !w.answered.Load() {
		w.answered.Store(true)
	}
}
