package client

import (
	"context"

	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// Watch follows a game to its end, reconnecting as often as necessary. It has no
// goroutine or buffer of its own: it connects and receives within Next.
type Watch struct {
	cursor *Cursor
	stream *resumer[pb.WatchResponse]
}

// Watch returns a Watch of a game. It connects on the first call to Next and ends when ctx
// is done or Close is called.
func (c *Client) Watch(ctx context.Context, opts WatchOptions) *Watch {
	cursor := newCursor(opts, c.newBackOff())
	return &Watch{cursor, newResumer(ctx, c, cursor)}
}

// Next waits for the next update. Versions arrive without gaps or repeats: each Event is
// one version higher than the last, and a Game that replaces events has their number in
// Skipped.
//
// A lost connection is not an error: Next returns an update with the state Reconnecting,
// and the next call waits, connects and resumes after the last version, until ctx is done
// or the client is closed. A server that is full or unavailable, or that asks the client to
// wait, is retried in the same way. To give up earlier, check Connection.Attempt and
// Connection.Err.
//
// The error is io.EOF after the last event of a finished game, the context's error after
// Close or once ctx is done, context.Canceled after Client.Close, ErrGameDamaged if the
// server has fewer events than it sent before, ErrVersionConflict if the server does not
// have the AfterVersion, ErrBadStream if the server violates the contract, and otherwise
// the server's error for the stream. All errors are final: later calls return the same one.
// Next must not be called concurrently with itself.
//
// A caller that stops before Next returns an error must call Close; otherwise the stream
// stays open until ctx is done.
func (w *Watch) Next() (Update, error) {
	var update Update
	conn, err := w.stream.next(func(m *pb.WatchResponse) (some bool, err error) {
		update, some, err = w.handle(m)
		return some, err
	})
	if err != nil {
		update = Update{}
	}
	update.Connection = conn
	return update, err
}

// Close ends the Watch and waits until a Next in another goroutine has returned. It is
// safe to call Close more than once.
func (w *Watch) Close() { w.stream.close() }

// handle checks a message against the previous ones and converts it to an Update. It
// returns false for a message of an unknown kind.
func (w *Watch) handle(message *pb.WatchResponse) (Update, bool, error) {
	switch update := message.GetUpdate().(type) {
	case *pb.WatchResponse_Game:
		skipped, err := w.handleGame(update.Game)
		return Update{Game: update.Game, Skipped: skipped}, true, err
	case *pb.WatchResponse_Event:
		return Update{Event: update.Event}, true, w.handleEvent(update.Event)
	case *pb.WatchResponse_Audience:
		return Update{Audience: new(max(0, update.Audience)), Reactions: message.GetReactions()}, true, nil
	default: // sent by a newer server
		return Update{}, false, nil
	}
}

func (w *Watch) handleGame(game *pb.Game) (skipped int32, err error) {
	if err := checkGame(game, w.cursor.opts.GameID); err != nil {
		return 0, err
	}
	return w.cursor.Game(game.GetVersion(), game.GetStatus() == pb.GameStatus_GAME_STATUS_FINISHED)
}

func (w *Watch) handleEvent(event *pb.Event) error {
	if err := checkEvent(event, w.cursor.opts.GameID); err != nil {
		return err
	}
	return w.cursor.Event(event.GetVersion(), event.GetResult() != nil)
}
