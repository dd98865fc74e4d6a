package load

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gridstand/gridstand/client"
	"github.com/gridstand/gridstand/internal/lightwatch"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// watcher follows the games of a table, one after another.
type watcher struct {
	run   *run
	link  *link
	table *table
}

// opening is the maximum number of streams that are opened concurrently.
const opening = 256

// watch follows games until the table is closed or ctx is done. It calls attached with nil
// once it sees a game, or with the error that prevented this. Only the first call of
// attached counts.
func (w *watcher) watch(ctx context.Context, attached func(error)) {
	var g *game
	for {
		if g = w.table.next(ctx, g); g == nil {
			attached(ctx.Err())
			return
		}
		seen, err := w.follow(ctx, g, attached)
		attached(err)
		if !errors.Is(err, io.EOF) {
			w.run.cutShort(short{g, seen})
		}
	}
}

// follow watches one game and returns the last version seen, or 0 if it saw none. The error
// is io.EOF if it saw the end of the game. After a version that is out of sequence, it
// resumes from the last version that was in sequence. If a stream is lost, it opens
// another.
func (w *watcher) follow(ctx context.Context, g *game, attached func(error)) (int32, error) {
	cursor := client.NewCursor(client.WatchOptions{GameID: g.id, EveryEvent: w.run.EveryEvent})
	for {
		before := cursor.Version()
		err := w.read(ctx, cursor, g, attached)
		if err == nil {
			err = cursor.End()
		}
		seen := cursor.Version()
		var sequence *client.SequenceError
		switch {
		case ctx.Err() != nil:
			return seen, ctx.Err()
		case errors.Is(err, io.EOF):
			return seen, err
		case errors.As(err, &sequence):
			if sequence.Version > sequence.After {
				w.run.gaps.Add(1)
			} else {
				w.run.repeats.Add(1)
			}
			if seen == before { // retrying without progress would loop forever
				return seen, err
			}
			continue
		}
		again, err := cursor.Lost(err)
		if errors.Is(err, io.EOF) {
			return seen, err
		}
		if err != nil {
			w.run.fail(callWatch, err)
			return seen, err
		}
		w.run.reconnects.Add(1)
		w.run.fail(callWatch, again.Err)
		if errors.Is(again.Err, client.ErrRateLimited) {
			attached(again.Err)
		}
		if err := wait(ctx, again.Delay); err != nil {
			return seen, err
		}
	}
}

// read reads one stream. It returns the error that ended the stream, or nil if the server
// completed it.
func (w *watcher) read(ctx context.Context, cursor *client.Cursor, g *game, attached func(error)) error {
	select {
	case w.run.opening <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	r := &receiver{
		watcher: w, cursor: cursor, game: g, attached: attached,
		opening: sync.OnceFunc(func() { <-w.run.opening }), ended: make(chan error, 1),
	}
	defer r.opening()
	cancel, err := w.open(ctx, cursor.Request(), r)
	if err != nil {
		return err
	}
	select {
	case err := <-r.ended:
		return err
	case <-ctx.Done():
		cancel()
		return ctx.Err()
	}
}

// open opens a stream, which ends when cancel is called.
func (w *watcher) open(ctx context.Context, request *pb.WatchRequest, r lightwatch.Receiver) (cancel func(), err error) {
	if w.run.Events {
		err = w.link.reach(ctx, func(e client.Endpoint) error {
			stream, err := lightwatch.WatchEvents(ctx, e.Address, w.link.options(e), request, r)
			if err == nil {
				cancel = stream.Close
			}
			return err
		})
		return cancel, err
	}
	conn, err := w.link.connect(ctx)
	if err != nil {
		return nil, err
	}
	stream, err := conn.Watch(request, r)
	if err != nil {
		return nil, err
	}
	return stream.Cancel, nil
}

// receiver checks that the messages of a stream are in sequence.
type receiver struct {
	*watcher
	cursor   *client.Cursor
	game     *game
	attached func(error)
	opening  func() // releases the stream's slot in run.opening
	ended    chan error
}

// Opened implements lightwatch.Receiver.
func (r *receiver) Opened() { r.opening() }

// Update implements lightwatch.Receiver.
func (r *receiver) Update(u *lightwatch.Update) error {
	r.cursor.Received()
	if u.Kind != lightwatch.Other && string(u.GameID) != r.game.id {
		return fmt.Errorf("%w: a message from another game", client.ErrBadStream)
	}
	switch u.Kind {
	case lightwatch.Event:
		if err := r.cursor.Event(u.Version, u.Over); err != nil {
			return err
		}
		if sent, ok := r.game.sentAt(u.Version); ok {
			r.run.delivery.record(r.run.now() - sent)
		}
		r.run.events.Add(1)
	case lightwatch.Game:
		skipped, err := r.cursor.Game(u.Version, u.Over)
		if err != nil {
			return err
		}
		r.run.skipped.Add(int64(skipped))
		r.attached(nil)
	}
	return nil
}

// Ended implements lightwatch.Receiver.
func (r *receiver) Ended(err error) { r.ended <- err }

// link is a connection shared by watchers. A lost connection is replaced.
type link struct {
	run *run
	// endpoints are the servers, with the link's own server first.
	endpoints []client.Endpoint
	current   atomic.Int64 // index of the endpoint that was last reached; see reach
	streams   int

	connecting chan struct{} // semaphore that guards the fields below
	conn       *lightwatch.Conn
	failed     error     // error of the last attempt to connect
	again      time.Time // earliest time of the next attempt
}

// between is the minimum time between attempts to connect, no matter which watcher makes
// them.
const between = 250 * time.Millisecond

// connect returns the connection, opening it first if necessary. Only one watcher at a time
// opens it; the others wait for that watcher or until their ctx is done. Soon after a
// failed attempt, connect returns the same error without trying again.
func (l *link) connect(ctx context.Context) (*lightwatch.Conn, error) {
	select {
	case l.connecting <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	defer func() { <-l.connecting }()
	switch {
	case l.conn != nil && l.conn.Err() == nil:
		return l.conn, nil
	case l.failed != nil && time.Now().Before(l.again):
		return nil, l.failed
	}
	var conn *lightwatch.Conn
	err := l.reach(ctx, func(e client.Endpoint) (err error) {
		conn, err = lightwatch.Dial(ctx, e.Address, l.options(e))
		return err
	})
	l.failed, l.again = err, time.Now().Add(between)
	if err == nil {
		l.close()
		l.conn = conn
	}
	return conn, err
}

// reach calls dial with the current endpoint, and with the following ones until dial
// succeeds. Like other clients, watchers fail over if a server is gone, and then stay with
// the server that they reached.
func (l *link) reach(ctx context.Context, dial func(client.Endpoint) error) (err error) {
	for range l.endpoints {
		current := l.current.Load()
		if err = dial(l.endpoints[current]); err == nil || ctx.Err() != nil {
			return err
		}
		l.current.CompareAndSwap(current, (current+1)%int64(len(l.endpoints)))
	}
	return err
}

func (l *link) options(e client.Endpoint) lightwatch.Options {
	return lightwatch.Options{
		Authority: e.Authority, TLS: e.TLS, UserAgent: l.run.Server.UserAgent, Streams: l.streams,
	}
}

// close closes the connection. It must not be called concurrently with connect.
func (l *link) close() {
	if l.conn != nil {
		l.conn.Close()
	}
}
