package load

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/gridstand/gridstand/client"
	"github.com/gridstand/gridstand/internal/lightwatch"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// watcher follows the games of a table, one after the other.
type watcher struct {
	run   *run
	link  *link
	table *table
}

// opening bounds the streams that are opened at a time.
const opening = 256

// watch follows games until the table is closed or ctx ends. It calls attached
// once: when the first game is seen, or with the error that prevents it.
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

// follow watches one game to its end, io.EOF, and returns the last version seen, 0 if
// none was. After a version that does not follow, it resumes from the last one that
// did; after a lost stream, with another stream.
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
			if seen == before { // and so on for ever
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

// read reads one stream. It returns the error that ended the stream, nil if the server
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

// open opens a stream, which cancel ends.
func (w *watcher) open(ctx context.Context, request *pb.WatchRequest, r lightwatch.Receiver) (cancel func(), err error) {
	if w.run.Events {
		stream, err := lightwatch.WatchEvents(ctx, w.link.endpoint.Address, w.link.options(), request, r)
		if err != nil {
			return nil, err
		}
		return stream.Close, nil
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

// receiver checks that the messages of a stream follow each other.
type receiver struct {
	*watcher
	cursor   *client.Cursor
	game     *game
	attached func(error)
	opening  func() // releases the semaphore
	ended    chan error
}

// Opened implements lightwatch.Receiver.
func (r *receiver) Opened() { r.opening() }

// Update implements lightwatch.Receiver.
func (r *receiver) Update(u *lightwatch.Update) error {
	r.cursor.Received()
	if u.Kind != lightwatch.Other && string(u.GameID) != r.game.id {
		return fmt.Errorf("%w: something of another game", client.ErrBadStream)
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

// link is the connection that watchers share. It is replaced if it is lost.
type link struct {
	run      *run
	endpoint client.Endpoint
	streams  int

	connecting chan struct{} // has room for one: the watcher that uses the fields below
	conn       *lightwatch.Conn
	failed     error     // why the last try to connect failed
	again      time.Time // when to try again
}

// between is the least time between two tries of all watchers to connect.
const between = 250 * time.Millisecond

// connect returns the connection, and makes a new one if it has ended. One watcher
// at a time does that; the others wait for it until ctx ends.
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
	conn, err := lightwatch.Dial(ctx, l.endpoint.Address, l.options())
	l.failed, l.again = err, time.Now().Add(between)
	if err == nil {
		l.close()
		l.conn = conn
	}
	return conn, err
}

func (l *link) options() lightwatch.Options {
	return lightwatch.Options{
		Authority: l.endpoint.Authority, TLS: l.endpoint.TLS, UserAgent: l.run.Server.UserAgent, Streams: l.streams,
	}
}

// close closes the connection. connect must not run at the same time.
func (l *link) close() {
	if l.conn != nil {
		l.conn.Close()
	}
}
