//go:build slow

package fault

import (
	"context"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	playertest "github.com/gridstand/gridstand/internal/testkit/player"
	waittest "github.com/gridstand/gridstand/internal/testkit/wait"
	watchtest "github.com/gridstand/gridstand/internal/testkit/watch"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// watching configures how a watcher follows a game.
type watching struct {
	// after is the version after which to start, or nil to start with the game.
	after *int32
	every bool
	// If cut is not 0, the watcher ends its stream after each cut versions and then resumes.
	cut int
}

// fromStart returns the version after which to start in order to receive the complete
// transcript.
func fromStart() *int32 { return proto.Int32(0) }

// watcher follows a game to its end, and checks and records what it receives.
type watcher struct {
	caller *caller
	gameID string
	watching
	// seen is called with each message, and with nil when a stream has been opened.
	seen func(ctx context.Context, message *pb.WatchResponse) error

	mu      sync.Mutex
	history *watchtest.History
	done    chan struct{} // closed at the end
	err     error         // why the watcher ended; nil if it has received the last event
}

// watch starts a watcher that runs until the game or the test ends.
func (c *caller) watch(t *testing.T, gameID string, how watching) *watcher {
	t.Helper()
	ignore := func(context.Context, *pb.WatchResponse) error { return nil }
	w := &watcher{caller: c, gameID: gameID, watching: how, seen: ignore}
	w.start(t)
	return w
}

func (w *watcher) start(t *testing.T) {
	t.Helper()
	w.done = make(chan struct{})
	w.history = watchtest.Begin(&pb.WatchRequest{GameId: w.gameID, AfterVersion: w.after, EveryEvent: w.every})
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(func() {
		cancel()
		<-w.done
	})
	go func() {
		defer close(w.done)
		w.err = w.run(ctx)
	}()
}

func (w *watcher) run(ctx context.Context) error {
	for {
		again, err := w.follow(ctx)
		if err != nil || !again {
			return err
		}
	}
}

// follow opens one stream and reads it. It reports whether the watcher must open another one,
// because this one was cut, or because it could not be opened while something was unavailable.
// Unless the test kills servers, only the end of the game may end a stream on which a message
// has arrived.
func (w *watcher) follow(ctx context.Context) (bool, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	c := w.caller
	reached := c.env.observed.latestVersion(w.gameID)
	w.mu.Lock()
	request := w.history.Open(reached)
	w.mu.Unlock()
	stream, err := c.games.Watch(c.authorized(ctx), request)
	if err == nil {
		err = w.seen(ctx, nil)
	}
	for n, begun := 0, false; ; begun = true {
		var message *pb.WatchResponse
		if err == nil { // otherwise, the stream could not be opened
			message, err = stream.Recv()
		}
		if err != nil {
			err = c.retryable(ctx, err)
			if begun && !c.env.serversDie && unavailable(err) {
				return false, err
			}
			again, err := w.end(checkError(err))
			if again {
				return true, playertest.Pause(ctx)
			}
			return false, err
		}
		over, err := w.take(message)
		if err != nil {
			return false, err
		}
		if err := w.seen(ctx, message); unavailable(err) {
			return true, playertest.Pause(ctx)
		} else if err != nil {
			return false, err
		}
		if message.GetGame() != nil || message.GetEvent() != nil {
			n++
		}
		if w.cut > 0 && n == w.cut && !over {
			return true, nil
		}
	}
}

func (w *watcher) end(err error) (again bool, _ error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.history.End(err)
}

// take checks and records a message. It reports whether the game is over.
func (w *watcher) take(message *pb.WatchResponse) (over bool, _ error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.history.Take(message); err != nil {
		return false, err
	}
	return w.history.Over(), w.caller.env.observed.update(message)
}

// awaitEnd waits until the watcher has ended, and returns its error.
func (w *watcher) awaitEnd(t *testing.T) error {
	t.Helper()
	waittest.Receive(t, "the end of a watcher's stream", w.done)
	return w.err
}

// transcript reads the events of a game up to the given version.
func (c *caller) transcript(ctx context.Context, gameID string, version int32) ([]*pb.Event, error) {
	var events []*pb.Event
	err := c.untilAnswered(ctx, func(ctx context.Context) (err error) {
		events, err = c.readTranscript(ctx, gameID, version)
		return err
	})
	return events, err
}

func (c *caller) readTranscript(ctx context.Context, gameID string, version int32) ([]*pb.Event, error) {
	ctx, cancel := context.WithCancel(c.authorized(ctx))
	defer cancel()
	stream, err := c.games.Watch(ctx, &pb.WatchRequest{GameId: gameID, AfterVersion: fromStart(), EveryEvent: true})
	if err != nil {
		return nil, err
	}
	var events []*pb.Event
	for last := int32(0); last < version; {
		message, err := stream.Recv()
		if err != nil {
			return nil, err
		}
		if e := message.GetEvent(); e != nil {
			events, last = append(events, e), e.GetVersion()
		}
	}
	return events, nil
}

// wantDamaged requires the error that the contract defines for a damaged game whose last
// readable version is the given one.
func wantDamaged(t *testing.T, err error, version string) {
	t.Helper()
	require.Error(t, err)
	r := refusalOf(err)
	require.Equal(t, codes.DataLoss, r.Code, "%v", status.Convert(err))
	require.Equal(t, pb.ReasonGameDamaged, r.Reason)
	require.Equal(t, map[string]string{"version": version}, r.Metadata)
}
