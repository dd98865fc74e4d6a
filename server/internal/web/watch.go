package web

import (
	"context"

	"connectrpc.com/connect"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
	"github.com/gridstand/gridstand/server/internal/rpc"
)

// services implements Connect's services. Only their streams are implemented differently
// than in the gRPC services.
type services struct {
	*rpc.Service
	config Config
}

// Watch implements gridstandv1connect.GameServiceHandler.
func (s services) Watch(ctx context.Context, request *pb.WatchRequest, stream *connect.ServerStream[pb.WatchResponse]) error {
	return watch(ctx, s.config, pb.GameService_Watch_FullMethodName, s.Service.Watch, request, stream)
}

// WatchChallenge implements gridstandv1connect.ChallengeServiceHandler.
func (s services) WatchChallenge(
	ctx context.Context, request *pb.WatchChallengeRequest, stream *connect.ServerStream[pb.WatchChallengeResponse],
) error {
	return watch(ctx, s.config, pb.ChallengeService_WatchChallenge_FullMethodName, s.Service.WatchChallenge, request, stream)
}

// watch runs a gRPC stream's handler and interceptors on a Connect stream.
func watch[Request, Response any](
	ctx context.Context, c Config, method string, handler func(*Request, grpc.ServerStreamingServer[Response]) error,
	request *Request, stream *connect.ServerStream[Response],
) error {
	s := serverStream{ctx: ctx, send: stream.Conn().Send} // which also takes messages that are encoded already
	info := &grpc.StreamServerInfo{FullMethod: method, IsServerStream: true}
	err := c.Stream(c.Service, s, info, func(_ any, s grpc.ServerStream) error {
		return handler(request, &grpc.GenericServerStream[Request, Response]{ServerStream: s})
	})
	return toConnect(err)
}

// serverStream lets gRPC handlers and interceptors use a stream of another protocol. One of Connect needs
// no Abort method, because its writes time out (see front.Handler).
type serverStream struct {
	grpc.ServerStream // nil: the handlers use only the methods below
	ctx               context.Context
	send              func(m any) error // sends the headers if m is nil
}

// Context implements grpc.ServerStream.
func (s serverStream) Context() context.Context { return s.ctx }

// SendHeader implements grpc.ServerStream.
func (s serverStream) SendHeader(metadata.MD) error { return unavailable(s.send(nil)) }

// SetTrailer implements grpc.ServerStream.
func (s serverStream) SetTrailer(metadata.MD) {}

// SendMsg implements grpc.ServerStream.
func (s serverStream) SendMsg(m any) error { return unavailable(s.send(m)) }

// unavailable converts err to the error that gRPC returns if a stream's connection is
// closed.
func unavailable(err error) error {
	if err == nil {
		return nil
	}
	return status.Error(codes.Unavailable, err.Error())
}
