package load

import (
	"context"
	"errors"
	"io"
	"sync"

	"github.com/gridstand/gridstand/client/session"
)

// watcher follows the games of a table, one after the other.
type watcher struct {
	run    *run
	number int
	client *session.Client
	table  *table
}

// opening is how many streams are opened at a time.
const opening = 256

// short is a game of which a watcher did not see the end.
type short struct {
	game *game
	seen int32
}

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

// follow watches one game to its end, io.EOF, and returns the last version seen,
// 0 if none was. After a version that does not follow it goes on from the last
// one that did.
func (w *watcher) follow(ctx context.Context, g *game, attached func(error)) (seen int32, err error) {
	options := session.WatchOptions{GameID: g.id, EveryEvent: w.run.EveryEvent}
	for {
		before := seen
		if err = w.read(ctx, options, g, &seen, attached); errors.Is(err, io.EOF) {
			return seen, err
		}
		var sequence *session.SequenceError
		if !errors.As(err, &sequence) {
			if ctx.Err() == nil {
				w.run.fail(callWatch, err)
			}
			return seen, err
		}
		if sequence.Version > sequence.After {
			w.run.gaps.Add(1)
		} else {
			w.run.repeats.Add(1)
		}
		if seen == before { // and so on for ever
			return seen, err
		}
		options.AfterVersion = &seen
	}
}

// read takes in what a stream brings, over as many connections as it takes.
func (w *watcher) read(
	ctx context.Context, options session.WatchOptions, g *game, seen *int32, attached func(error),
) error {
	select {
	case w.run.opening <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	opened := sync.OnceFunc(func() { <-w.run.opening })
	defer opened()
	if options.AfterVersion != nil {
		after := *options.AfterVersion // it is read again at each connection
		options.AfterVersion = &after
	}
	stream := w.client.Watch(ctx, options)
	defer stream.Close()
	for {
		update, err := stream.Next()
		if err != nil {
			return err
		}
		switch {
		case update.Event != nil:
			version := update.Event.GetVersion()
			if sent, ok := g.sentAt(version); ok {
				w.run.delivery.record(w.number, w.run.now()-sent)
			}
			w.run.events.Add(1)
			*seen = version
		case update.Game != nil:
			w.run.skipped.Add(int64(update.Skipped))
			*seen = update.Game.GetVersion()
		case update.Connection.State == session.Reconnecting:
			w.run.reconnects.Add(1)
			w.run.fail(callWatch, update.Connection.Err)
			if errors.Is(update.Connection.Err, session.ErrRateLimited) {
				attached(update.Connection.Err)
			}
			opened()
			continue
		default:
			continue
		}
		opened()
		attached(nil)
	}
}
