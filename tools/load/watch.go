package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"sync"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/gridstand/gridstand/client"
)

// watcher follows one game to its end.
type watcher struct {
	run      *run
	game     *game
	number   int
	attached func(error) // called when the watcher sees the game, or cannot
	seen     int32       // last version seen
}

// attempts is the number of failed tries to attach after which a watcher counts as refused.
const attempts = 5

// watch starts the watchers of a game. They end with the game, or when ctx is done.
func (r *run) watch(ctx context.Context, g *game) {
	var once sync.Once
	ctx, g.unwatch = context.WithCancel(ctx)
	g.attaching.Add(r.watchers)
	for range r.watchers {
		r.watching.Go(func() {
			r.opening <- struct{}{}
			w := &watcher{run: r, game: g, number: int(r.next.Add(1))}
			var attached sync.Once
			w.attached = func(err error) {
				attached.Do(func() {
					<-r.opening
					if err != nil {
						once.Do(func() { g.unwatched = err })
					}
					g.attaching.Done()
				})
			}
			err := w.follow(ctx)
			w.attached(err)
			w.count(ctx, err)
		})
	}
}

// follow watches the game until its end, which is io.EOF, or another permanent error.
func (w *watcher) follow(ctx context.Context) error {
	if w.run.protocol == overSSE {
		return w.followEvents(ctx)
	}
	all := w.run.viewing
	watch := all[w.number%len(all)].Watch(ctx, client.WatchOptions{GameID: w.game.id})
	defer watch.Close()
	for {
		update, err := watch.Next()
		switch {
		case err != nil:
			return err
		case update.Game != nil:
			w.sawGame(update.Game.GetVersion(), update.Skipped)
		case update.Event != nil:
			w.sawEvent(update.Event.GetVersion())
		case update.Connection.State == client.Reconnecting:
			w.lost(update.Connection)
		}
	}
}

func (w *watcher) sawGame(version, skipped int32) {
	w.seen = version
	w.run.skipped.Add(int64(skipped))
	w.attached(nil)
}

func (w *watcher) sawEvent(version int32) {
	w.seen = version
	w.run.events.Add(1)
	if sent := w.game.sentAt(version); !sent.IsZero() {
		w.run.delivery.record(time.Since(sent))
	}
}

func (w *watcher) lost(c client.Connection) {
	w.run.reconnects.Add(1)
	w.run.fail("Watch", c.Err)
	if c.Attempt >= attempts {
		w.attached(c.Err)
	}
}

// count counts the end of a watcher's stream.
func (w *watcher) count(ctx context.Context, err error) {
	var sequence *client.SequenceError
	switch {
	case errors.Is(err, io.EOF):
		return
	case errors.As(err, &sequence) && sequence.Version > sequence.After:
		w.run.gaps.Add(1)
	case errors.As(err, &sequence):
		w.run.repeats.Add(1)
	case ctx.Err() == nil:
		w.run.fail("Watch", err)
	}
	w.run.cutShort(w)
}

// followEvents is follow by Server-Sent Events: see docs/events.md.
func (w *watcher) followEvents(ctx context.Context) error {
	cursor := client.NewCursor(client.WatchOptions{GameID: w.game.id})
	for {
		err := w.readEvents(ctx, cursor)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case errors.Is(err, io.EOF), errors.Is(err, client.ErrBadStream):
			return err
		}
		connection, err := cursor.Lost(err)
		if err != nil {
			return err
		}
		w.lost(connection)
		wait(ctx, connection.Delay)
	}
}

// readEvents reads one stream. It returns io.EOF at the end of the game, and a status error if the
// stream is lost.
func (w *watcher) readEvents(ctx context.Context, cursor *client.Cursor) error {
	from := w.run.origins[w.number%len(w.run.origins)]
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, from.url+"/g/"+w.game.id+"/events", nil)
	if err != nil {
		return err
	}
	request.Header.Set("Accept", "text/event-stream")
	if cursor.Version() > 0 {
		request.Header.Set("Last-Event-ID", strconv.Itoa(int(cursor.Version())))
	}
	response, err := from.client.Do(request)
	if err != nil {
		return status.Error(codes.Unavailable, err.Error())
	}
	defer func() { _ = response.Body.Close() }()
	switch response.StatusCode {
	case http.StatusOK:
	case http.StatusNoContent:
		return io.EOF
	default:
		text, _ := io.ReadAll(io.LimitReader(response.Body, 1<<10))
		return status.Errorf(codes.Unavailable, "%s: %s", response.Status, text)
	}
	lines := bufio.NewScanner(response.Body)
	lines.Buffer(make([]byte, 0, 4<<10), 4<<20)
	var version int64
	for lines.Scan() {
		name, value, _ := bytes.Cut(lines.Bytes(), []byte(": "))
		switch string(name) {
		case "id":
			if version, err = strconv.ParseInt(string(value), 10, 32); err != nil {
				return fmt.Errorf("%w: %w", client.ErrBadStream, err)
			}
		case "event":
			if string(value) == "end" {
				return io.EOF
			}
		case "data":
			cursor.Received()
			if err := w.record(cursor, int32(version), value); err != nil {
				return err
			}
		}
	}
	return status.Error(codes.Unavailable, fmt.Sprint("the stream ended: ", lines.Err()))
}

// record handles the data of one record.
func (w *watcher) record(cursor *client.Cursor, version int32, data []byte) error {
	switch {
	case bytes.HasPrefix(data, []byte(`{"event"`)):
		if err := cursor.Event(version, false); err != nil {
			return err
		}
		w.sawEvent(version)
	case bytes.HasPrefix(data, []byte(`{"game"`)):
		skipped, err := cursor.Game(version, false)
		if err != nil {
			return err
		}
		w.sawGame(version, skipped)
	}
	return nil
}
