package verify

import (
	"context"
	"errors"
	"io"
	"iter"

	"github.com/gridstand/gridstand/client"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// Game reads the transcript of a game from a server and recomputes it. Of a
// game that is not over it says ErrLive at once. Lost connections are taken up
// again, until several tries in a row came to nothing. Beside the errors of
// Transcript it returns those of the client.
func Game(ctx context.Context, c *client.Client, gameID string) (Report, error) {
	response, err := c.Games.GetGame(ctx, &pb.GetGameRequest{GameId: gameID})
	if err != nil {
		return Report{}, err
	}
	if response.GetGame().GetStatus() != pb.GameStatus_GAME_STATUS_FINISHED {
		return Report{}, ErrLive
	}
	beginning := int32(0)
	watcher := c.Watch(ctx, client.WatchOptions{GameID: gameID, AfterVersion: &beginning, EveryEvent: true})
	defer watcher.Close()
	return Transcript(watched(watcher))
}

// patience is after how many tries in a row a server counts as gone.
const patience = 5

// watched yields the events of a watcher.
func watched(watcher *client.Watch) iter.Seq2[*pb.Event, error] {
	return func(yield func(*pb.Event, error) bool) {
		for {
			update, err := watcher.Next()
			if update.Connection.State == client.Reconnecting && update.Connection.Attempt >= patience {
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
