package client_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/gridstand/gridstand/client"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// A bot that plays a game of 2048 and watches itself while it does. It needs
// nothing but the address of a server.
func Example() {
	target, stop := someServer() // else "localhost:2048"
	defer stop()

	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := run(ctx, target); err != nil {
		fmt.Println("failed:", err)
	}
	// Output:
	// cornerer plays 3x3
	// watched 24 moves, 140 points: REASON_NO_MOVES
	// played to the end with 140 points
}

func run(ctx context.Context, target string) error {
	c, err := client.Dial(client.Config{Target: target, UserAgent: "cornerer/1.0"})
	if err != nil {
		return err
	}
	defer c.Close()

	// An account is made at the first time and kept; a bot that people know
	// would use client.DefaultStore.
	dir, err := os.MkdirTemp("", "cornerer")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	store := client.NewStore(filepath.Join(dir, "credentials.json"))
	account, notice, err := client.LogIn(ctx, c, store, client.NumberedName("cornerer"))
	if err != nil {
		return err
	}
	if notice != "" {
		fmt.Println(notice)
	}

	game, err := c.NewGame(ctx, "3x3", client.GameOptions{})
	if err != nil {
		return err
	}
	fmt.Println(account.Name, "plays", game.GetVariant())

	var score int32
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return watch(ctx, c, game.GetId()) })
	group.Go(func() (err error) {
		score, err = play(ctx, c, game)
		return err
	})
	if err := group.Wait(); err != nil {
		return err
	}
	fmt.Println("played to the end with", score, "points")
	return nil
}

// play moves until the game is over, and returns the score.
func play(ctx context.Context, c *client.Client, game *pb.Game) (int32, error) {
	seat := c.Seat(game)
	version, position := game.GetVersion(), game.GetPosition()
	for {
		legal := position.GetTwenty48().GetLegalMoves()
		if len(legal) == 0 {
			return position.GetScores()[0], nil
		}
		// A lost reply or a server that is away is seen to in here.
		event, err := seat.Move(ctx, version, client.Slide(towardsCorner(legal)), true)
		if err != nil {
			return 0, err
		}
		version, position = event.GetVersion(), event.GetPosition()
	}
}

// towardsCorner prefers left, then down, then right, then up.
func towardsCorner(legal []pb.Direction) pb.Direction {
	prefer := map[pb.Direction]int{
		pb.Direction_DIRECTION_LEFT: 4, pb.Direction_DIRECTION_DOWN: 3, pb.Direction_DIRECTION_RIGHT: 2,
	}
	best := legal[0]
	for _, d := range legal {
		if prefer[d] > prefer[best] {
			best = d
		}
	}
	return best
}

// watch follows a game from its beginning to its end.
func watch(ctx context.Context, c *client.Client, id string) error {
	beginning := int32(0)
	watcher := c.Watch(ctx, client.WatchOptions{GameID: id, AfterVersion: &beginning})
	defer watcher.Close()
	moves := 0
	for {
		update, err := watcher.Next()
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		case update.Connection.State == client.Reconnecting:
			fmt.Println("lost the server, trying again in", update.Connection.Delay)
		}
		event := update.Event
		if event.GetMoved() != nil {
			moves++
		}
		if result := event.GetResult(); result != nil {
			fmt.Println("watched", moves, "moves,", result.GetScores()[0], "points:", result.GetReason())
		}
	}
}
