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

// Watch follows a game to its end, over as many connections as it takes. It has no
// goroutine and no buffer of its own: it connects and receives within Next.
type Watch struct {
	client *Client
	gameID string
	ctx    context.Context
	cancel context.CancelFunc

	next sync.Mutex // held by Next; guards the fields below

	stream       grpc.ServerStreamingClient[pb.WatchResponse] // nil while there is none
	cancelStream context.CancelFunc                           // ends stream
	conn         Connection
	cursor       *Cursor
	err          error // final
}

// Watch returns a Watch of a game, which connects with the first Next and ends with
// ctx or Close.
func (c *Client) Watch(ctx context.Context, opts WatchOptions) *Watch {
	w := &Watch{client: c, gameID: opts.GameID, cursor: newCursor(opts, c.newBackOff())}
	w.ctx, w.cancel = context.WithCancel(ctx)
	return w
}

// Next waits for the next update. Versions come without a gap or a repeat: each Event
// is one version above the last, and a Game that replaces events says in Skipped how
// many.
//
// A lost connection is not an error: Next returns an update with the state
// Reconnecting, and the next call waits, connects and resumes after the last version,
// until ctx ends or the client is closed. A server that is full or unavailable, or that
// asks to wait, is retried in the same way. A caller that wants to give up earlier
// checks Connection.Attempt and Connection.Err.
//
// The error is io.EOF after the last event of a finished game, the context's after
// Close or the end of ctx, context.Canceled after Client.Close, ErrGameDamaged if the
// server has fewer events than it sent before, ErrVersionConflict for an AfterVersion
// that the server does not have, ErrBadStream for a server that breaks the contract,
// else the error with which the server refused the stream. All are final: later calls
// return the same. Next must not be called concurrently with itself.
//
// A caller that stops before Next returns an error must call Close; otherwise the
// stream stays open until ctx ends.
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

// Close ends the Watch and waits until a Next in another goroutine has returned. It
// may be called more than once.
func (w *Watch) Close() {
	w.cancel()
	w.next.Lock()
	defer w.next.Unlock()
	w.drop()
}

// step connects, or receives one message. It reports whether there is an update for
// the caller.
func (w *Watch) step() (Update, bool, error) {
	if err := w.client.ended(w.ctx); err != nil {
		return Update{}, false, err
	}
	if w.stream == nil {
		if err := w.client.wait(w.ctx, w.conn.Delay); err != nil {
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

// open connects, and returns when the server's headers arrive.
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
		// The stream has ended already, and Recv returns how. io.EOF is left to
		// the next step, which gets it again.
		if _, err = stream.Recv(); errors.Is(err, io.EOF) {
			err = nil
		}
	}
	return err
}

// withIdleTimeout cancels the stream if receive takes longer than the idle timeout.
func withIdleTimeout[T any](w *Watch, receive func() (T, error)) (T, error) {
	timer := time.AfterFunc(w.client.idleTimeout, w.cancelStream)
	defer timer.Stop()
	return receive()
}

// drop cancels the stream, if there is one.
func (w *Watch) drop() {
	if w.stream != nil {
		w.cancelStream()
		w.stream, w.cancelStream = nil, nil
	}
}

// lost returns nil if a lost stream can be replaced by another.
func (w *Watch) lost(err error) error {
	w.drop()
	if ended := w.client.ended(w.ctx); ended != nil {
		return ended
	}
	conn, err := w.cursor.Lost(err)
	if err == nil {
		w.conn = conn
	}
	return err
}

// handle checks a message against the ones before it.
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
	default: // sent by a newer server
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
