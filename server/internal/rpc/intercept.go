package rpc

import (
	"context"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"

	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// maxCall limits the duration of a unary call, even if the call has a later deadline.
const maxCall = 10 * time.Second

// answerMargin is the time reserved before a call's deadline for delivering the response.
const answerMargin = 50 * time.Millisecond

// Unary is the interceptor for unary calls. It limits the duration of a call, charges its reads,
// authenticates the caller, applies the limit of the player and translates the error. Any call's panic
// becomes an error.
func (s *Service) Unary(
	ctx context.Context, request any, info *grpc.UnaryServerInfo, handler grpc.UnaryHandler,
) (response any, err error) {
	defer s.recovered(info.FullMethod, &err)
	called, ok := methods[info.FullMethod]
	if !ok { // Health checks are small and do not read the store.
		return handler(ctx, request)
	}
	span := maxCall
	if deadline, ok := ctx.Deadline(); ok {
		left := time.Until(deadline)
		span = min(span, left-min(answerMargin, left/10))
	}
	bounded, cancel := context.WithTimeout(ctx, span)
	defer cancel()

	if !called.free {
		err = chargeCall(bounded, called, request)
	}
	if err == nil {
		bounded, err = s.authenticate(bounded, info.FullMethod, called.callers)
	}
	if err == nil {
		err = s.limitPlayer(bounded, called.callers)
	}
	if err == nil {
		response, err = handler(bounded, request)
	}
	stream := grpc.ServerTransportStreamFromContext(ctx) // nil for Connect, whose clients get no headers
	if err != nil {
		f := s.toStatus(ctx, info.FullMethod, err)
		if stream != nil {
			_ = stream.SetTrailer(f.trailer())
		}
		return nil, f
	}
	if stream != nil {
		// An error has no header: clients retry only calls that were answered without one.
		_ = stream.SetHeader(metadata.Pairs(pb.TimeHeader, time.Now().UTC().Format(time.RFC3339Nano)))
	}
	return response, nil
}

// Stream is the interceptor for streams. Unlike Unary, it sets no time limit.
func (s *Service) Stream(server any, stream grpc.ServerStream, info *grpc.StreamServerInfo, handler grpc.StreamHandler) (err error) {
	defer s.recovered(info.FullMethod, &err)
	called, ok := methods[info.FullMethod]
	if !ok {
		return handler(server, stream)
	}
	ctx, err := s.authenticate(stream.Context(), info.FullMethod, called.callers)
	if err == nil {
		if ctx != stream.Context() { // Most watchers have no token, so the context is unchanged.
			stream = withContext{stream, ctx}
		}
		err = handler(server, stream)
	}
	if err != nil {
		f := s.toStatus(stream.Context(), info.FullMethod, err)
		stream.SetTrailer(f.trailer())
		return f
	}
	return nil
}

// withContext is a stream with another context.
type withContext struct {
	grpc.ServerStream
	ctx context.Context
}

// Context implements grpc.ServerStream.
func (s withContext) Context() context.Context { return s.ctx }
