package verify

import (
	"context"
	"errors"
	"io"
	"iter"

	"github.com/gridstand/gridstand/client"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// Game reads the transcript of a game from a server and recomputes it. For a game that
// is not over it returns ErrLive at once. It reconnects if the connection is lost, and
// gives up after several tries in a row. The errors are those of Transcript and of the
// client.
func Game(ctx context.Context, c *client.Client, gameID string) (Report, error) {
	game, err := c.Game(ctx, gameID)
	if err != nil {
		return Report{}, err
	}
	if !game.Over() {
		return Report{}, ErrLive
	}
	beginning := int32(0)
	watch := c.Watch(ctx, client.WatchOptions{GameID: gameID, AfterVersion: &beginning, EveryEvent: true})
	defer watch.Close()
	return Transcript(eventsOf(watch))
}

// maxTries bounds the tries in a row to reconnect.
const maxTries = 5

// eventsOf yields the events of a watch.
func eventsOf(watch *client.Watch) iter.Seq2[*pb.Event, error] {
	return func(yield func(*pb.Event, error) bool) {
		for {
			update, err := watch.Next()
			if update.Connection.State == client.Reconnecting && update.Connection.Attempt >= maxTries {
				err = update.Connection.Err
			}
			switch {
			case errors.Is(err, io.EOF):
				return
			case err != nil:
				yield(nil, err)
				return
			}
			if update.Event != nil && !yield(update.Event, nil) {
				return
			}
		}
	}
}
