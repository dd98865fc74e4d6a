package web

import (
	"context"
	"net/http"

	"connectrpc.com/connect"
	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"

	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
	"github.com/gridstand/gridstand/proto/gridstand/v1/gridstandv1connect"
	"github.com/gridstand/gridstand/server/internal/rpc"
)

// registerConnect offers the contract by Connect, gRPC-Web, and gRPC over the HTTP/2 of
// package net/http.
func registerConnect(mux *http.ServeMux, c Config) {
	options := []connect.HandlerOption{
		connect.WithInterceptors(&interceptor{chainUnary(c.Unary), chainStream(c.Stream), c.Service}),
		connect.WithReadMaxBytes(c.Limits.MessageBytes),
	}
	mux.Handle(gridstandv1connect.NewGameServiceHandler(games{c.Service}, options...))
	mux.Handle(gridstandv1connect.NewLeaderboardServiceHandler(c.Service, options...))
	mux.Handle(gridstandv1connect.NewPlayerServiceHandler(c.Service, options...))
}

// games is the GameService of Connect. Only Watch differs from that of gRPC.
type games struct{ *rpc.Service }

// Watch implements gridstandv1connect.GameServiceHandler.
func (g games) Watch(ctx context.Context, request *pb.WatchRequest, stream *connect.ServerStream[pb.WatchResponse]) error {
	return g.Service.Watch(request, &grpc.GenericServerStream[pb.WatchRequest, pb.WatchResponse]{
		ServerStream: &serverStream{ctx: ctx, send: func(m any) error { return stream.Send(m.(*pb.WatchResponse)) }},
	})
}

// serverStream is a stream of another protocol than gRPC, for handlers and interceptors
// of gRPC.
type serverStream struct {
	grpc.ServerStream // nil: the handlers use only the methods below
	ctx               context.Context
	send              func(m any) error
}

// Context implements grpc.ServerStream.
func (s *serverStream) Context() context.Context { return s.ctx }

// SetHeader implements grpc.ServerStream.
func (s *serverStream) SetHeader(metadata.MD) error { return nil }

// SendHeader implements grpc.ServerStream.
func (s *serverStream) SendHeader(metadata.MD) error { return nil }

// SetTrailer implements grpc.ServerStream. The interceptors set only a hint for gRPC's
// retry policy; toConnect sets the one of HTTP.
func (s *serverStream) SetTrailer(metadata.MD) {}

// SendMsg implements grpc.ServerStream.
func (s *serverStream) SendMsg(m any) error { return s.send(m) }

// interceptor runs the interceptors of gRPC for calls by Connect.
type interceptor struct {
	unary   grpc.UnaryServerInterceptor
	stream  grpc.StreamServerInterceptor
	service *rpc.Service
}

// WrapUnary implements connect.Interceptor.
func (i *interceptor) WrapUnary(next connect.UnaryFunc) connect.UnaryFunc {
	return func(ctx context.Context, request connect.AnyRequest) (connect.AnyResponse, error) {
		info := &grpc.UnaryServerInfo{Server: i.service, FullMethod: request.Spec().Procedure}
		response, err := i.unary(ctx, request.Any(), info, func(ctx context.Context, _ any) (any, error) {
			return next(ctx, request)
		})
		if err != nil {
			return nil, toConnect(err)
		}
		return response.(connect.AnyResponse), nil
	}
}

// WrapStreamingClient implements connect.Interceptor.
func (i *interceptor) WrapStreamingClient(next connect.StreamingClientFunc) connect.StreamingClientFunc {
	return next
}

// WrapStreamingHandler implements connect.Interceptor.
func (i *interceptor) WrapStreamingHandler(next connect.StreamingHandlerFunc) connect.StreamingHandlerFunc {
	return func(ctx context.Context, conn connect.StreamingHandlerConn) error {
		info := &grpc.StreamServerInfo{FullMethod: conn.Spec().Procedure, IsServerStream: true}
		return toConnect(i.stream(i.service, &serverStream{ctx: ctx}, info, func(_ any, stream grpc.ServerStream) error {
			return next(stream.Context(), conn)
		}))
	}
}
