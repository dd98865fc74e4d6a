package contract

import (
	"context"
	"errors"
	"io"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"

	watchtest "github.com/gridstand/gridstand/internal/testkit/watch"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// watcher reads the stream of a game and checks every message.
type watcher struct {
	stream grpc.ServerStreamingClient[pb.WatchResponse]
	// leave ends the stream.
	leave   context.CancelFunc
	history *watchtest.History
	last    *pb.Position
	// audiences lists the audiences received so far, in order.
	audiences []int32
}

func (s *testServer) watch(t testing.TB, ctx context.Context, request *pb.WatchRequest) *watcher {
	t.Helper()
	ctx, cancel := context.WithCancel(ctx)
	t.Cleanup(cancel)
	stream, err := s.Watch(ctx, request)
	require.NoError(t, err)
	return &watcher{stream: stream, leave: cancel, history: watchtest.Begin(request)}
}

// from returns a request for the events after the given version.
func from(id string, version int32) *pb.WatchRequest {
	return &pb.WatchRequest{GameId: id, AfterVersion: &version}
}

// next returns the next game or event, or nil at the end.
func (w *watcher) next(t testing.TB) *pb.WatchResponse {
	t.Helper()
	for {
		update, err := w.receive(t)
		if errors.Is(err, io.EOF) {
			_, wrong := w.history.End(err)
			require.NoError(t, wrong)
			return nil
		}
		require.NoError(t, err)
		if _, ok := update.GetUpdate().(*pb.WatchResponse_Audience); !ok {
			return update
		}
	}
}

// receive returns the next update, or the error at the end of the stream.
func (w *watcher) receive(t testing.TB) (*pb.WatchResponse, error) {
	t.Helper()
	update, err := w.stream.Recv()
	if err != nil {
		return nil, err
	}
	require.NoError(t, w.history.Take(update))
	switch u := update.GetUpdate().(type) {
	case *pb.WatchResponse_Game:
		w.last = u.Game.GetPosition()
	case *pb.WatchResponse_Event:
		if w.last != nil {
			checkStep(t, w.last, u.Event)
		}
		w.last = u.Event.GetPosition()
	case *pb.WatchResponse_Audience:
		w.audiences = append(w.audiences, u.Audience)
	}
	require.Zero(t, w.history.Covered(), "a game replaced events although the reader is fast")
	return update, nil
}

// game returns the next update, which must be a game.
func (w *watcher) game(t testing.TB) *pb.Game {
	t.Helper()
	g := w.next(t).GetGame()
	require.NotNil(t, g)
	return g
}

// event returns the next update, which must be an event.
func (w *watcher) event(t testing.TB) *pb.Event {
	t.Helper()
	e := w.next(t).GetEvent()
	require.NotNil(t, e)
	return e
}

// audience reads until the number of spectators is n.
func (w *watcher) audience(t testing.TB, n int32) {
	t.Helper()
	for len(w.audiences) == 0 || w.audiences[len(w.audiences)-1] != n {
		_, err := w.receive(t)
		require.NoError(t, err, "waiting for %d spectators, received %v", n, w.audiences)
	}
}

// end requires that the stream ends with OK.
func (w *watcher) end(t testing.TB) {
	t.Helper()
	require.Nil(t, w.next(t))
}

// refused returns the error that ended the stream.
func (w *watcher) refused(t testing.TB) error {
	t.Helper()
	for {
		_, err := w.receive(t)
		if err != nil {
			require.NotErrorIs(t, err, io.EOF)
			return err
		}
	}
}
