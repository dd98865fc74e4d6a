package verify

import (
	"context"
	"errors"
	"io"
	"iter"

	"github.com/gridstand/gridstand/client"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// Game reads the transcript of a game from a server and recomputes it. If the game is not over, it
// immediately returns ErrLive. If the connection is lost, Game reconnects, and gives up after
// several consecutive failures. For an attempt it also checks the challenge if the server still has
// it, and returns ErrOpen while the challenge is open. All other errors come from Transcript
// or the client.
func Game(ctx context.Context, c *client.Client, gameID string) (Report, error) {
	game, err := c.Game(ctx, gameID)
	if err != nil {
		return Report{}, err
	}
	if !game.Over() {
		return Report{}, ErrLive
	}
	var challenge *pb.Challenge
	if game.GetChallengeId() != "" {
		if challenge, err = challengeOf(ctx, c, game); err != nil {
			return Report{}, err
		}
	}
	beginning := int32(0)
	watch := c.Watch(ctx, client.WatchOptions{GameID: gameID, AfterVersion: &beginning, EveryEvent: true})
	defer watch.Close()
	report, err := Transcript(eventsOf(watch))
	if err == nil && report.ChallengeID != game.GetChallengeId() {
		// Without this check, a server that hides the challenge would prevent that it is checked.
		err = differs(0, "the game is an attempt at %q, its challenge is %q", report.ChallengeID, game.GetChallengeId())
	}
	if err == nil && challenge != nil {
		report.Challenge, err = checkChallenge(ctx, c, challenge, game, report)
	}
	return report, err
}

// maxTries is the maximum number of consecutive attempts to reconnect.
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
