package client_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/gridstand/gridstand/client"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// Ask the leaderboard for the best score and for a player's rank. Calls without a method
// of their own in this package are made through the fields of Client.
func Example_leaderboard() {
	target, stop := startServer()
	defer stop()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()

	c, err := client.Dial(client.Config{Target: target})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer c.Close()
	game, err := playedGame(ctx, c, 20) // enough moves for a score
	if err != nil {
		fmt.Println(err)
		return
	}
	ada := game.SeatAt(0).GetPlayer()

	// Results are recorded shortly after the end of a game.
	rank := &pb.GetRankRequest{Variant: "classic", Window: pb.Window_WINDOW_ALL_TIME, PlayerId: ada.GetId()}
	mine, err := c.Leaderboard.GetRank(ctx, rank)
	for errors.Is(err, client.ErrNoScore) {
		<-time.After(50 * time.Millisecond)
		mine, err = c.Leaderboard.GetRank(ctx, rank)
	}
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(ada.GetName(), "has rank", mine.GetEntry().GetRank())

	board, err := c.Leaderboard.ListScores(ctx, &pb.ListScoresRequest{
		Variant: "classic", Window: pb.Window_WINDOW_ALL_TIME, PageSize: 10,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, entry := range board.GetEntries() {
		same := entry.GetGameId() == game.GetId()
		fmt.Printf("%d. %s, for this game: %t\n", entry.GetRank(), client.CleanName(entry.GetPlayer().GetName()), same)
	}
	// Output:
	// ada has rank 1
	// 1. ada, for this game: true
}
