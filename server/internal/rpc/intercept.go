package rpc

import (
	"context"
	"strings"
	"time"

	middleware "github.com/grpc-ecosystem/go-grpc-middleware/v2"
	"google.golang.org/grpc"
)

// maxCall is how long a unary call may take, whatever the caller allows.
const maxCall = 10 * time.Second

// answerMargin is by how much the work on a call ends before its deadline, so
// that the answer, which says what became of it, still arrives.
const answerMargin = 50 * time.Millisecond

// Options are what a gRPC server needs to offer a Service.
func (s *Service) Options() []grpc.ServerOption {
	return []grpc.ServerOption{
		grpc.ChainUnaryInterceptor(s.unary),
		grpc.ChainStreamInterceptor(s.stream),
	}
}

// unary bounds a call in time, finds out who calls, and translates its error.
func (s *Service) unary(ctx context.Context, request any, info *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (any, error) {
	if !ours(info.FullMethod) { // those answer with little
		return handler(ctx, request)
	}
	span := maxCall
	if deadline, ok := ctx.Deadline(); ok {
		left := time.Until(deadline)
		span = min(span, left-min(answerMargin, left/10))
	}
	bounded, cancel := context.WithTimeout(ctx, span)
	defer cancel()

	response, err := s.answer(bounded, request, handler)
	if err != nil {
		f := s.fail(ctx, info.FullMethod, err)
		_ = grpc.SetTrailer(ctx, f.trailer())
		return nil, f
	}
	return response, nil
}

// answer carries out a call of the contract once there is room for it.
func (s *Service) answer(ctx context.Context, request any, handler grpc.UnaryHandler) (any, error) {
	leave, err := s.read(ctx, request)
	if err != nil {
		return nil, err
	}
	defer leave()
	ctx, err = s.authenticate(ctx)
	if err != nil {
		return nil, err
	}
	return handler(ctx, request)
}

// stream is unary for streams, which last as long as they like.
func (s *Service) stream(server any, stream grpc.ServerStream, info *grpc.StreamServerInfo, handler grpc.StreamHandler) error {
	if !ours(info.FullMethod) {
		return handler(server, stream)
	}
	ctx, err := s.authenticate(stream.Context())
	if err == nil {
		if ctx != stream.Context() { // most watchers are nobody
			stream = &middleware.WrappedServerStream{ServerStream: stream, WrappedContext: ctx}
		}
		err = handler(server, stream)
	}
	if err != nil {
		f := s.fail(stream.Context(), info.FullMethod, err)
		stream.SetTrailer(f.trailer())
		return f
	}
	return nil
}

// ours tells the contract's methods from those of health and reflection.
func ours(method string) bool { return strings.HasPrefix(method, "/gridstand.") }
