package client_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

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
		fmt.Println(err)
		return
	}
	defer c.Close()
	// The file keeps the bot's account for the next run.
	dir, err := os.MkdirTemp("", "cornerer")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	store := client.NewStore(filepath.Join(dir, "account.json"))
	if _, _, err := client.LogInBot(ctx, c, store, client.NumberedName("cornerer")); err != nil {
		fmt.Println(err)
		return
	}

	game, err := c.NewGame(ctx, "3x3", client.GameOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	game, err = c.Seat(game).Play(ctx, game, func(_ context.Context, game client.Game) (client.Move, error) {
		return client.Slide(intoCorner(game.GetPosition().GetTwenty48().GetLegalMoves())), nil
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("moves left:", len(game.GetPosition().GetTwenty48().GetLegalMoves()))
	fmt.Println("ranked:", game.GetRanked())
	// Output:
	// moves left: 0
	// ranked: false
}

// intoCorner prefers left, then down, then right, then up.
func intoCorner(legal []pb.Direction) pb.Direction {
	prefer := map[pb.Direction]int{
		pb.Direction_DIRECTION_LEFT: 3, pb.Direction_DIRECTION_DOWN: 2, pb.Direction_DIRECTION_RIGHT: 1,
	}
	best := legal[0]
	for _, d := range legal {
		if prefer[d] > prefer[best] {
			best = d
		}
	}
	return best
}
