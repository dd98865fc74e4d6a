package client_test

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/gridstand/gridstand/client"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
	"github.com/gridstand/gridstand/server"
)

// startServer starts a server in this process, on a free port and with its games in
// memory. In a test, pass stop to t.Cleanup.
func startServer() (target string, stop func()) {
	config := server.DefaultConfig().Unlimited()
	config.Store = server.Memory
	config.Listen = "127.0.0.1:0"
	config.Logger = slog.New(slog.DiscardHandler)
	config.BotPace = 0 // the server's bots move immediately
	config.Exhibition = false

	ctx, cancel := context.WithCancel(context.Background())
	s, err := server.Start(ctx, config)
	if err != nil {
		panic(err)
	}
	return s.Addr().String(), func() {
		cancel()
		if err := s.Wait(); err != nil {
			panic(err)
		}
	}
}

// Test a program against its own server: two players and one of the server's bots play
// Tribolo.
func Example_server() {
	target, stop := startServer()
	defer stop()
	ctx := context.Background()

	c, err := client.Dial(client.Config{Target: target})
	if err != nil {
		panic(err)
	}
	defer c.Close()
	accounts := map[string]*client.Client{}
	for _, name := range []string{"ada", "bob"} {
		_, token, err := c.CreatePlayer(ctx, name, false)
		if err != nil {
			panic(err)
		}
		accounts[name] = c.As(token)
	}

	waiting, err := accounts["ada"].NewGame(ctx, "tribolo", client.GameOptions{Seats: []*pb.SeatRequest{
		{Occupant: &pb.SeatRequest_Caller{Caller: &pb.Caller{}}},
		{Occupant: &pb.SeatRequest_Open{Open: &pb.Open{}}},
		{Occupant: &pb.SeatRequest_Bot{Bot: "greedy"}},
	}})
	if err != nil {
		panic(err)
	}
	game, err := accounts["bob"].Join(ctx, waiting.GetId(), nil)
	if err != nil {
		panic(err)
	}
	fmt.Println("bob has seat", accounts["bob"].Seat(game).Index())
	fmt.Println(waiting.GetStatus(), "became", game.GetStatus())
	// Output:
	// bob has seat 1
	// GAME_STATUS_WAITING became GAME_STATUS_ACTIVE
}
