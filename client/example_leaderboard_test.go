package client_test

import (
	"context"
	"fmt"

	"github.com/gridstand/gridstand/client"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// Ask the leaderboard for the best score and for a player's rank. Calls without a method
// of their own in this package are made through the fields of Client.
func Example_leaderboard() {
	target, stop := startServer()
	defer stop()
	ctx := context.Background()

	c, err := client.Dial(client.Config{Target: target})
	if err != nil {
		panic(err)
	}
	defer c.Close()
	game, err := playedGame(ctx, c, 20) // enough moves for a score
	if err != nil {
		panic(err)
	}
	ada := game.SeatAt(0).GetPlayer()

	mine, err := c.Leaderboard.GetRank(ctx, &pb.GetRankRequest{
		Variant: "classic", Window: pb.Window_WINDOW_ALL_TIME, PlayerId: ada.GetId(),
	})
	if err != nil {
		panic(err)
	}
	fmt.Println(ada.GetName(), "has rank", mine.GetEntry().GetRank())

	board, err := c.Leaderboard.ListScores(ctx, &pb.ListScoresRequest{
		Variant: "classic", Window: pb.Window_WINDOW_ALL_TIME, PageSize: 10,
	})
	if err != nil {
		panic(err)
	}
	for _, entry := range board.GetEntries() {
		same := entry.GetGameId() == game.GetId()
		fmt.Printf("%d. %s, for this game: %t\n", entry.GetRank(), client.CleanName(entry.GetPlayer().GetName()), same)
	}
	// Output:
	// ada has rank 1
	// 1. ada, for this game: true
}
