package client

import (
	"context"
	"errors"
	"io"
	"sync"
	"time"

	"google.golang.org/grpc"

	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// Watch follows a game to its end, over as many connections as it takes. It
// has no goroutine of its own: everything happens within Next, and a caller
// that calls it late is sent less, not buffered for.
type Watch struct {
	client *Client
	gameID string
	ctx    context.Context
	cancel context.CancelFunc

	next sync.Mutex // held by Next; guards all below

	stream       grpc.ServerStreamingClient[pb.WatchResponse] // nil while there is none
	cancelStream context.CancelFunc                           // ends stream
	conn         Connection
	cursor       *Cursor
	err          error // final
}

// Watch follows a game. Nothing happens until Next is called; the watcher ends
// with ctx or Close.
func (c *Client) Watch(ctx context.Context, opts WatchOptions) *Watch {
	w := &Watch{client: c, gameID: opts.GameID, cursor: newCursor(opts, c.newBackOff())}
	w.ctx, w.cancel = context.WithCancel(ctx)
	return w
}

// Next waits for the next update. Versions come without gap or repeat: each
// Event is one above what came before, each later Game further above, with
// Skipped to tell by how much.
//
// A lost connection is not an error: Next returns an update that says
// Reconnecting, and the next call waits, connects and goes on from the last
// version. That goes on until ctx ends; a caller that would rather give up
// looks at Connection.Err.
//
// The error is io.EOF after the last event of a finished game, the context's
// after Close or the end of ctx, ErrGameDamaged where the server has less of the
// game than was seen, ErrBadStream for a server that sends nonsense, else what
// the server refused the stream with. All are final: Next returns the same from
// then on. Next must not be called concurrently with itself.
func (w *Watch) Next() (Update, error) {
	w.next.Lock()
	defer w.next.Unlock()
	var update Update
	for w.err == nil {
		var some bool
		if update, some, w.err = w.step(); some && w.err == nil {
			update.Connection = w.conn
			return update, nil
		}
	}
	w.drop()
	w.cancel()
	return Update{Connection: w.conn}, w.err
}

// Close ends the watcher and waits for a Next under way to return. It may be
// called concurrently with Next, and more than once.
func (w *Watch) Close() {
	w.cancel()
	w.next.Lock()
	defer w.next.Unlock()
	w.drop()
}

// step does one thing that waits: connect, or receive. It reports whether there
// is something to tell.
func (w *Watch) step() (Update, bool, error) {
	if err := w.ctx.Err(); err != nil {
		return Update{}, false, err
	}
	if w.stream == nil {
		if err := wait(w.ctx, w.conn.Delay); err != nil {
			return Update{}, false, err
		}
		if err := w.open(); err != nil {
			return Update{}, true, w.lost(err)
		}
		w.conn = Connection{State: Live}
		return Update{}, true, nil
	}
	message, err := withIdleTimeout(w, w.stream.Recv)
	switch {
	case errors.Is(err, io.EOF):
		return Update{}, false, w.cursor.End()
	case err != nil:
		return Update{}, true, w.lost(err)
	}
	w.cursor.Received()
	return w.handle(message)
}

// open connects, and returns when the server has begun to answer.
func (w *Watch) open() error {
	ctx, cancelStream := context.WithCancel(w.ctx)
	stream, err := w.client.Games.Watch(ctx, w.cursor.Request())
	if err != nil {
		cancelStream()
		return err
	}
	w.stream, w.cancelStream = stream, cancelStream
	header, err := withIdleTimeout(w, stream.Header)
	if err == nil && header == nil {
		// The stream has ended already, and Recv knows how; where that is
		// io.EOF, the next step meets it again.
		if _, err = stream.Recv(); errors.Is(err, io.EOF) {
			err = nil
		}
	}
	return err
}

// withIdleTimeout receives something from the stream, unless nothing comes for too long.
func withIdleTimeout[T any](w *Watch, receive func() (T, error)) (T, error) {
	timer := time.AfterFunc(w.client.idleTimeout, w.cancelStream)
	defer timer.Stop()
	return receive()
}

// drop ends the stream, if there is one.
func (w *Watch) drop() {
	if w.stream != nil {
		w.cancelStream()
		w.stream, w.cancelStream = nil, nil
	}
}

// lost decides what the loss of a stream means: nil for one to be replaced.
func (w *Watch) lost(err error) error {
	w.drop()
	if ended := w.ctx.Err(); ended != nil {
		return ended
	}
	conn, err := w.cursor.Lost(err)
	if err == nil {
		w.conn = conn
	}
	return err
}

// handle checks a message against what came before.
func (w *Watch) handle(message *pb.WatchResponse) (Update, bool, error) {
	switch update := message.GetUpdate().(type) {
	case *pb.WatchResponse_Game:
		skipped, err := w.handleGame(update.Game)
		return Update{Game: update.Game, Skipped: skipped}, true, err
	case *pb.WatchResponse_Event:
		return Update{Event: update.Event}, true, w.handleEvent(update.Event)
	case *pb.WatchResponse_Audience:
		audience := max(0, update.Audience)
		return Update{Audience: &audience}, true, nil
	default: // something that a newer server sends
		return Update{}, false, nil
	}
}

func (w *Watch) handleGame(game *pb.Game) (skipped int32, err error) {
	if err := checkGame(game, w.gameID); err != nil {
		return 0, err
	}
	return w.cursor.Game(game.GetVersion(), game.GetStatus() == pb.GameStatus_GAME_STATUS_FINISHED)
}

func (w *Watch) handleEvent(event *pb.Event) error {
	if err := checkEvent(event, w.gameID); err != nil {
		return err
	}
	return w.cursor.Event(event.GetVersion(), event.GetResult() != nil)
}
