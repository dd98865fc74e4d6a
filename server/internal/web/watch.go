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

// games is the GameService of Connect. Only Watch differs from that of gRPC.
type games struct {
	*rpc.Service
	calls *calls
}

// Watch implements gridstandv1connect.GameServiceHandler.
func (g games) Watch(ctx context.Context, request *pb.WatchRequest, stream *connect.ServerStream[pb.WatchResponse]) error {
	s := &serverStream{
		ctx:  ctx,
		send: func(m any) error { return stream.Send(m.(*pb.WatchResponse)) },
		open: func() error { return stream.Send(nil) },
	}
	info := &grpc.StreamServerInfo{FullMethod: pb.GameService_Watch_FullMethodName, IsServerStream: true}
	err := g.calls.stream(g.Service, s, info, func(_ any, s grpc.ServerStream) error {
		return g.Service.Watch(request, &grpc.GenericServerStream[pb.WatchRequest, pb.WatchResponse]{ServerStream: s})
	})
	return toConnect(err, s.trailer)
}

// serverStream is a stream of another protocol than gRPC, for handlers and interceptors
// of gRPC.
type serverStream struct {
	grpc.ServerStream // nil: the handlers use only the methods below
	ctx               context.Context
	send              func(m any) error
	open              func() error // sends the headers
	trailer           metadata.MD
}

// Context implements grpc.ServerStream.
func (s *serverStream) Context() context.Context { return s.ctx }

// SetHeader implements grpc.ServerStream.
func (s *serverStream) SetHeader(metadata.MD) error { return nil }

// SendHeader implements grpc.ServerStream.
func (s *serverStream) SendHeader(metadata.MD) error { return unavailable(s.open()) }

// SetTrailer implements grpc.ServerStream.
func (s *serverStream) SetTrailer(md metadata.MD) { s.trailer = metadata.Join(s.trailer, md) }

// SendMsg implements grpc.ServerStream.
func (s *serverStream) SendMsg(m any) error { return unavailable(s.send(m)) }

// unavailable returns the error that gRPC returns if the connection of a stream closes.
func unavailable(err error) error {
	if err == nil {
		return nil
	}
	return status.Error(codes.Unavailable, err.Error())
}
