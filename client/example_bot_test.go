package client_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/gridstand/gridstand/client"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// A bot is a function that chooses a move.
func ExampleSeat_Play() {
	target, stop := startServer()
	defer stop()
	ctx := context.Background()

	c, err := client.Dial(client.Config{Target: target, UserAgent: "cornerer/1.0"})
	if err != nil {
		panic(err)
	}
	defer c.Close()
	// The file keeps the bot's account for the next run.
	dir, err := os.MkdirTemp("", "cornerer")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	store := client.NewStore(filepath.Join(dir, "account.json"))
	if _, _, err := client.LogInBot(ctx, c, store, "cornerer"); err != nil {
		panic(err)
	}

	game, err := c.NewGame(ctx, "3x3", client.GameOptions{})
	if err != nil {
		panic(err)
	}
	game, err = c.Seat(game).Play(ctx, game, func(_ context.Context, game client.Game) (client.Move, error) {
		legal := game.GetPosition().GetTwenty48().GetLegalMoves()
		for _, preferred := range []pb.Direction{
			pb.Direction_DIRECTION_LEFT, pb.Direction_DIRECTION_DOWN, pb.Direction_DIRECTION_RIGHT,
		} {
			if slices.Contains(legal, preferred) {
				return client.Slide(preferred), nil
			}
		}
		return client.Slide(pb.Direction_DIRECTION_UP), nil
	})
	if err != nil {
		panic(err)
	}
	fmt.Println("moves left:", len(game.GetPosition().GetTwenty48().GetLegalMoves()))
	fmt.Println("ranked:", game.GetRanked())
	// Output:
	// moves left: 0
	// ranked: false
}
