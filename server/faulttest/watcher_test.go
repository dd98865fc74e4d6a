package faulttest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// watching says how somebody watches.
type watching struct {
	// after is the version to begin after; nil to begin with the game.
	after *int32
	every bool
	// cut ends the stream after so many versions, again and again, and resumes
	// it; 0 for never.
	cut int
	// slow takes nothing before gate is closed, over a connection that holds
	// next to nothing.
	gate <-chan struct{}
}

// fromStart asks for the whole transcript.
func fromStart() *int32 { return proto.Int32(0) }

// watcher follows a game to its end, checks that it is shown every version once
// and in order, and notes what it is told.
type watcher struct {
	c      *client
	gameID string
	watching

	mu      sync.Mutex
	version int32 // last one seen
	events  int
	covered int // games that took the place of events
	over    bool
	changed chan struct{} // closed and replaced at every version
	done    chan struct{} // closed at the end
	err     error         // how it ended; nil after the last event
}

// watch begins to watch, until the game or the test ends.
func (c *client) watch(t *testing.T, gameID string, how watching) *watcher {
	t.Helper()
	w := &watcher{c: c, gameID: gameID, watching: how, changed: make(chan struct{}), done: make(chan struct{})}
	if how.after != nil {
		w.version = *how.after
	}
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(func() {
		cancel()
		<-w.done
	})
	go func() {
		defer close(w.done)
		w.err = w.run(ctx)
	}()
	return w
}

// updates is a stream, whoever reads it.
type updates interface {
	Recv() (*pb.WatchResponse, error)
}

func (w *watcher) run(ctx context.Context) error {
	for {
		again, err := w.follow(ctx)
		if err != nil || !again {
			return err
		}
	}
}

// follow opens one stream and reads it. It reports true where another one has
// to go on: this one was cut, or could not begin since something was
// unavailable. Once something came, nothing may end it but the game.
func (w *watcher) follow(ctx context.Context) (bool, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	request := &pb.WatchRequest{GameId: w.gameID, AfterVersion: w.after, EveryEvent: w.every}
	if w.version > 0 {
		request.AfterVersion = &w.version
	}
	stream, err := w.open(ctx, request)
	if err != nil {
		return false, err
	}
	for n, begun := 0, false; ; begun = true {
		message, err := stream.Recv()
		switch {
		case unavailable(err) && !begun:
			return true, pause(ctx)
		case errors.Is(err, io.EOF) && !w.over:
			return false, errors.New("the stream ended before the game")
		case errors.Is(err, io.EOF):
			return false, nil
		case err != nil:
			return false, checkError(err)
		}
		if err := w.take(request, message); err != nil {
			return false, err
		}
		if message.GetGame() != nil || message.GetEvent() != nil {
			n++
		}
		if w.cut > 0 && n == w.cut && !w.over {
			return true, nil
		}
	}
}

func (w *watcher) open(ctx context.Context, request *pb.WatchRequest) (updates, error) {
	if w.gate == nil {
		return w.c.games.Watch(w.c.authorized(ctx), request)
	}
	stream, err := slowWatch(ctx, w.c.server.addr, request)
	if err != nil {
		return nil, err
	}
	select {
	case <-w.gate:
		return stream, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// take checks a message against those before.
func (w *watcher) take(request *pb.WatchRequest, message *pb.WatchResponse) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch update := message.GetUpdate().(type) {
	case *pb.WatchResponse_Audience:
		if w.version == 0 && request.AfterVersion == nil {
			return errors.New("an audience before the game")
		}
		return nil
	case *pb.WatchResponse_Game:
		g := update.Game
		switch {
		case w.over, g.GetVersion() <= w.version:
			return fmt.Errorf("the game at version %d after version %d", g.GetVersion(), w.version)
		case w.version > 0 && w.every:
			return fmt.Errorf("a game in the place of version %d", w.version+1)
		case w.version > 0 || request.AfterVersion != nil:
			w.covered++
		}
		w.version, w.over = g.GetVersion(), g.GetStatus() == pb.GameStatus_GAME_STATUS_FINISHED
		w.wake()
		return w.c.w.told.game(g)
	case *pb.WatchResponse_Event:
		e := update.Event
		if w.over || e.GetVersion() != w.version+1 || w.version == 0 && request.AfterVersion == nil {
			return fmt.Errorf("version %d after version %d", e.GetVersion(), w.version)
		}
		w.events++
		w.version, w.over = e.GetVersion(), e.GetResult() != nil
		w.wake()
		return w.c.w.told.event(e)
	default:
		return fmt.Errorf("an update of no contract: %v", message)
	}
}

func (w *watcher) wake() {
	close(w.changed)
	w.changed = make(chan struct{})
}

// sees waits until the watcher has seen a version.
func (w *watcher) sees(t *testing.T, version int32) {
	t.Helper()
	late := time.After(patience)
	for {
		w.mu.Lock()
		seen, changed := w.version, w.changed
		w.mu.Unlock()
		if seen >= version {
			return
		}
		select {
		case <-changed:
		case <-w.done:
			require.NoError(t, w.err)
			require.GreaterOrEqual(t, w.version, version, "the stream has ended")
			return
		case <-late:
			require.Fail(t, "a watcher does not see what happens", "it is at version %d, not at %d", seen, version)
		}
	}
}

// ends waits until the watcher has ended, and returns its error.
func (w *watcher) ends(t *testing.T) error {
	t.Helper()
	select {
	case <-w.done:
		return w.err
	case <-time.After(patience):
		require.Fail(t, "a watcher's stream does not end")
		return nil
	}
}

// attached reports whether the stream is still open.
func (w *watcher) attached() bool {
	select {
	case <-w.done:
		return false
	default:
		return true
	}
}

// transcript reads the events of a game, from the first on to the given version.
func (c *client) transcript(ctx context.Context, gameID string, version int32) ([]*pb.Event, error) {
	ctx, cancel := context.WithCancel(c.authorized(ctx))
	defer cancel()
	stream, err := c.games.Watch(ctx, &pb.WatchRequest{GameId: gameID, AfterVersion: fromStart(), EveryEvent: true})
	if err != nil {
		return nil, err
	}
	var events []*pb.Event
	for int32(len(events)) < version {
		message, err := stream.Recv()
		if err != nil {
			return nil, err
		}
		if e := message.GetEvent(); e != nil {
			events = append(events, e)
		}
	}
	return events, nil
}

// wantDamaged requires the contract's answer about a damaged game.
func wantDamaged(t *testing.T, err error, version string) {
	t.Helper()
	require.Error(t, err)
	r := refusalOf(err)
	require.Equal(t, codes.DataLoss, r.code, "%v", status.Convert(err))
	require.Equal(t, pb.ReasonGameDamaged, r.reason)
	require.Equal(t, map[string]string{"version": version}, r.metadata)
}
