package server_test

import (
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	playertest "github.com/gridstand/gridstand/internal/testkit/player"
	redistest "github.com/gridstand/gridstand/internal/testkit/redis"
	servertest "github.com/gridstand/gridstand/internal/testkit/server"
	waittest "github.com/gridstand/gridstand/internal/testkit/wait"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// Ensure that games where it is a bot's turn are due on other servers seconds after a server has stopped, although
// its bots would have waited for longer.
func TestStart_StopLeavesJobs(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, client *redis.Client) {
		config := servertest.Config(t)
		config.Store = "redis://" + client.Options().Addr
		config.BotPace = time.Hour
		server, stop := servertest.Start(t, config)
		conn, ctx := servertest.Dial(t, server.Addr()), waittest.Context(t)
		ann := playertest.New(ctx, t, conn, "Ann")
		greedy := &pb.SeatRequest{Occupant: &pb.SeatRequest_Bot{Bot: "greedy"}}
		g := ann.Create(t, &pb.CreateGameRequest{Variant: "tribolo", Seats: []*pb.SeatRequest{greedy, greedy, greedy}})

		stop()
		due, err := client.ZScore(ctx, "due", g.GetId()).Result()
		require.NoError(t, err)
		now, err := client.Time(ctx).Result()
		require.NoError(t, err)
		require.Less(t, due, float64(now.Add(6*time.Second).UnixMilli()))
	})
}
