package benchtest

import (
	"context"
	"net"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"

	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// bare is what gRPC does when nothing is behind it: calls that answer with a
// message made before, and streams that send one message to everybody.
type bare struct {
	pb.UnimplementedGameServiceServer

	answer *pb.MoveResponse
	update *pb.WatchResponse
	// publishes says that a move is shown to every stream.
	publishes bool

	mu       sync.Mutex
	prepared *grpc.PreparedMsg
	sent     int           // messages so far
	more     chan struct{} // closed and replaced at each
}

func startBare(b *testing.B, event *pb.Event, publishes bool) string {
	b.Helper()
	s := &bare{
		answer: &pb.MoveResponse{Event: event},
		update: &pb.WatchResponse{Update: &pb.WatchResponse_Event{Event: event}},
		more:   make(chan struct{}), publishes: publishes,
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(b, err)
	server := grpc.NewServer(grpc.MaxConcurrentStreams(1 << 20))
	pb.RegisterGameServiceServer(server, s)
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = server.Serve(listener)
	}()
	b.Cleanup(func() {
		server.Stop()
		<-done
	})
	return listener.Addr().String()
}

func (s *bare) Move(context.Context, *pb.MoveRequest) (*pb.MoveResponse, error) {
	if s.publishes {
		s.publish()
	}
	return s.answer, nil
}

// publish sends one more message to every stream.
func (s *bare) publish() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sent++
	close(s.more)
	s.more = make(chan struct{})
}

func (s *bare) Watch(_ *pb.WatchRequest, stream grpc.ServerStreamingServer[pb.WatchResponse]) error {
	s.mu.Lock()
	if s.prepared == nil {
		s.prepared = &grpc.PreparedMsg{}
		if err := s.prepared.Encode(stream, s.update); err != nil {
			s.mu.Unlock()
			return err
		}
	}
	seen := s.sent
	s.mu.Unlock()
	if err := stream.SendHeader(nil); err != nil {
		return err
	}
	for {
		s.mu.Lock()
		sent, more := s.sent, s.more
		s.mu.Unlock()
		if seen == sent {
			select {
			case <-more:
			case <-stream.Context().Done():
				return stream.Context().Err()
			}
			continue
		}
		if err := stream.SendMsg(s.prepared); err != nil {
			return err
		}
		seen++
	}
}
