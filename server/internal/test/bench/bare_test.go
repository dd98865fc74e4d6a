//go:build slow

package bench

import (
	"context"
	"sync"
	"sync/atomic"

	"google.golang.org/grpc"

	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// bare is a minimal gRPC service: every call returns the same prepared message, and every stream
// sends the same message to all watchers.
type bare struct {
	pb.UnimplementedGameServiceServer

	answer *pb.MoveResponse
	update *pb.WatchResponse
	// publishes makes each move send the message to every stream of the game.
	publishes bool
	// publish, if not nil, is called on each move instead of sending the message to the
	// streams.
	publish func()

	encode   sync.Once
	prepared grpc.PreparedMsg
	feeds    sync.Map // game ID → *feed
}

// feed wakes the streams of a game.
type feed struct {
	mu  sync.Mutex // held by publishers
	now atomic.Pointer[moment]
}

type moment struct {
	sent int           // number of messages sent so far
	more chan struct{} // closed when another message is sent
}

func newBare(event *pb.Event, publishes bool) *bare {
	return &bare{
		answer:    &pb.MoveResponse{Event: event},
		update:    &pb.WatchResponse{Update: &pb.WatchResponse_Event{Event: event}},
		publishes: publishes,
	}
}

func (s *bare) Move(_ context.Context, request *pb.MoveRequest) (*pb.MoveResponse, error) {
	switch {
	case s.publish != nil:
		s.publish()
	case s.publishes:
		s.feed(request.GetGameId()).publish()
	}
	return s.answer, nil
}

func (s *bare) feed(gameID string) *feed {
	if r, ok := s.feeds.Load(gameID); ok {
		return r.(*feed)
	}
	r := &feed{}
	r.now.Store(&moment{more: make(chan struct{})})
	found, _ := s.feeds.LoadOrStore(gameID, r)
	return found.(*feed)
}

// publish sends the message to every stream once more.
func (r *feed) publish() {
	r.mu.Lock()
	defer r.mu.Unlock()
	was := r.now.Load()
	r.now.Store(&moment{sent: was.sent + 1, more: make(chan struct{})})
	close(was.more)
}

func (s *bare) Watch(request *pb.WatchRequest, stream grpc.ServerStreamingServer[pb.WatchResponse]) error {
	var failure error
	s.encode.Do(func() { failure = s.prepared.Encode(stream, s.update) })
	if failure != nil {
		return failure
	}
	r := s.feed(request.GetGameId())
	seen, left := r.now.Load().sent, stream.Context().Done()
	if err := stream.SendHeader(nil); err != nil {
		return err
	}
	for {
		now := r.now.Load()
		if seen == now.sent {
			select {
			case <-now.more:
			case <-left:
				return stream.Context().Err()
			}
			continue
		}
		if err := stream.SendMsg(&s.prepared); err != nil {
			return err
		}
		seen++
	}
}
