package client_test

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/gridstand/gridstand/client"
)

// Watch a game, stop, and resume later without gaps or repeats. After a lost connection,
// none of this is necessary: Next reconnects and resumes automatically.
func ExampleClient_Watch() {
	target, stop := startServer()
	defer stop()
	ctx := context.Background()

	c, err := client.Dial(client.Config{Target: target})
	if err != nil {
		panic(err)
	}
	defer c.Close()
	game, err := playedGame(ctx, c, 3) // a game with versions 1 to 5
	if err != nil {
		panic(err)
	}

	// Start with the first event and stop at version 3.
	var seen client.Game
	beginning := int32(0)
	watch := c.Watch(ctx, client.WatchOptions{GameID: game.GetId(), AfterVersion: &beginning})
	for seen.GetVersion() < 3 {
		update, err := watch.Next()
		if err != nil {
			panic(err)
		}
		if seen.Update(update) {
			fmt.Println("saw version", seen.GetVersion())
		}
	}
	watch.Close()

	// To resume, the program needs only the game's id and version.
	last := seen.GetVersion()
	watch = c.Watch(ctx, client.WatchOptions{GameID: game.GetId(), AfterVersion: &last})
	defer watch.Close()
	for {
		update, err := watch.Next()
		if errors.Is(err, io.EOF) {
			fmt.Println("the game is over:", seen.GetResult().GetReason())
			return
		}
		if err != nil {
			panic(err)
		}
		if update.Connection.State == client.Reconnecting {
			fmt.Println("no connection, trying again in", update.Connection.Delay)
		}
		if seen.Update(update) {
			fmt.Println("then version", seen.GetVersion())
		}
	}
	// Output:
	// saw version 1
	// saw version 2
	// saw version 3
	// then version 4
	// then version 5
	// the game is over: REASON_RESIGNED
}

// playedGame creates a game, makes some moves and resigns.
func playedGame(ctx context.Context, c *client.Client, moves int) (client.Game, error) {
	_, token, err := c.CreatePlayer(ctx, "ada", false)
	if err != nil {
		return client.Game{}, err
	}
	player := c.As(token) // another account, over the same connection
	game, err := player.NewGame(ctx, "classic", client.GameOptions{})
	if err != nil {
		return client.Game{}, err
	}
	seat := player.Seat(game)
	for range moves {
		legal := game.GetPosition().GetTwenty48().GetLegalMoves()
		event, err := seat.Move(ctx, game.GetVersion(), client.Slide(legal[0]), false)
		if err != nil {
			return client.Game{}, err
		}
		game.Apply(event)
	}
	event, err := seat.Resign(ctx)
	game.Apply(event)
	return game, err
}
