package session

import (
	"context"
	"errors"
	"io"

	"google.golang.org/grpc"
)

// unaryErrors makes the errors of all calls *Error.
func unaryErrors(
	ctx context.Context, method string, request, reply any,
	conn *grpc.ClientConn, invoke grpc.UnaryInvoker, opts ...grpc.CallOption,
) error {
	return asError(invoke(ctx, method, request, reply, conn, opts...))
}

// streamErrors makes the errors of all streams *Error.
func streamErrors(
	ctx context.Context, desc *grpc.StreamDesc, conn *grpc.ClientConn,
	method string, open grpc.Streamer, opts ...grpc.CallOption,
) (grpc.ClientStream, error) {
	stream, err := open(ctx, desc, conn, method, opts...)
	if err != nil {
		return nil, asError(err)
	}
	return errorStream{stream}, nil
}

type errorStream struct{ grpc.ClientStream }

func (s errorStream) RecvMsg(m any) error { return asError(s.ClientStream.RecvMsg(m)) }
func (s errorStream) SendMsg(m any) error { return asError(s.ClientStream.SendMsg(m)) }

// asError is FromError without the trap of a nil *Error in an error; io.EOF,
// the end of a stream, stays itself.
func asError(err error) error {
	if err == nil || errors.Is(err, io.EOF) {
		return err
	}
	return FromError(err)
}
