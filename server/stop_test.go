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

// Ensure that a stopping server immediately hands over games where it is a bot's turn,
// instead of leaving them until other servers notice its absence.
func TestStart_StopHandsOver(t *testing.T) {
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

		overdue := func() bool {
			due, err := client.ZScore(ctx, "due", g.GetId()).Result()
			require.NoError(t, err)
			now, err := client.Time(ctx).Result()
			require.NoError(t, err)
			return due <= float64(now.UnixMilli())
		}
		require.False(t, overdue())
		stop()
		require.True(t, overdue())
	})
}
