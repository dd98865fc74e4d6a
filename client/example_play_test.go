package client_test

import (
	"context"
	"fmt"

	"github.com/gridstand/gridstand/client"
)

// Play a game: create an account and a game, make a few moves, and resign.
func ExampleSeat() {
	target, stop := startServer() // or use the address of a server, such as "localhost:2048"
	defer stop()
	ctx := context.Background()

	c, err := client.Dial(client.Config{Target: target, UserAgent: "example/1.0"})
	if err != nil {
		panic(err)
	}
	defer c.Close()

	// A program that will run again must store its token: see LogIn.
	player, token, err := c.CreatePlayer(ctx, "ada", false)
	if err != nil {
		panic(err)
	}
	c.SetToken(token)

	game, err := c.NewGame(ctx, "classic", client.GameOptions{})
	if err != nil {
		panic(err)
	}
	fmt.Printf("%s plays %s, ranked: %t\n", player.GetName(), game.GetVariant(), game.GetRanked())

	seat := c.Seat(game)
	for range 3 {
		legal := game.GetPosition().GetTwenty48().GetLegalMoves()
		event, err := seat.Move(ctx, game.GetVersion(), client.Slide(legal[0]), false)
		if err != nil {
			panic(err)
		}
		game.Apply(event)
	}
	fmt.Printf("version %d after %d moves\n", game.GetVersion(), game.GetPosition().GetMoveCount())

	event, err := seat.Resign(ctx)
	if err != nil {
		panic(err)
	}
	game.Apply(event)
	fmt.Println("over:", game.Over(), game.GetResult().GetReason())
	// Output:
	// ada plays classic, ranked: true
	// version 4 after 3 moves
	// over: true REASON_RESIGNED
}
