package session

import (
	"context"
	"errors"
	"io"

	"google.golang.org/grpc"

	"github.com/gridstand/gridstand/internal/unreachable"
)

// encryption says whether a client's connections are encrypted, which tells
// apart why one could not be made.
type encryption bool

// unary makes the errors of all calls *Error.
func (e encryption) unary(
	ctx context.Context, method string, request, reply any,
	conn *grpc.ClientConn, invoke grpc.UnaryInvoker, opts ...grpc.CallOption,
) error {
	return e.explained(invoke(ctx, method, request, reply, conn, opts...))
}

// stream makes the errors of all streams *Error.
func (e encryption) stream(
	ctx context.Context, desc *grpc.StreamDesc, conn *grpc.ClientConn,
	method string, open grpc.Streamer, opts ...grpc.CallOption,
) (grpc.ClientStream, error) {
	stream, err := open(ctx, desc, conn, method, opts...)
	if err != nil {
		return nil, e.explained(err)
	}
	return errorStream{stream, e}, nil
}

type errorStream struct {
	grpc.ClientStream
	encryption
}

func (s errorStream) RecvMsg(m any) error { return s.explained(s.ClientStream.RecvMsg(m)) }
func (s errorStream) SendMsg(m any) error { return s.explained(s.ClientStream.SendMsg(m)) }

// explained is FromError with the cause of a missing connection, and without the
// trap of a nil *Error in an error; io.EOF, the end of a stream, stays itself.
func (e encryption) explained(err error) error {
	if err == nil || errors.Is(err, io.EOF) {
		return err
	}
	out := FromError(err)
	if out.unreachable() {
		out.Cause = unreachable.Why(out.Message, bool(e))
	}
	return out
}
