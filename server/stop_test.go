package server_test

import (
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/metadata"

	redistest "github.com/gridstand/gridstand/internal/testkit/redis"
	servertest "github.com/gridstand/gridstand/internal/testkit/server"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// Ensure that a server that stops hands games in which bots are to move to
// others immediately, not only when it would be missed.
func TestStart_StopHandsOver(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, client redis.UniversalClient) {
		single, ok := client.(*redis.Client)
		require.True(t, ok)
		config := servertest.Config(t)
		config.Store = "redis://" + single.Options().Addr
		config.BotPace = time.Hour
		server, stop := servertest.Start(t, config)
		conn, ctx := servertest.Dial(t, server.Addr()), within(t)
		account, err := pb.NewPlayerServiceClient(conn).CreatePlayer(ctx, &pb.CreatePlayerRequest{Name: "Ann"})
		require.NoError(t, err)
		ctx = metadata.AppendToOutgoingContext(ctx, "authorization", "Bearer "+account.GetToken())
		greedy := &pb.SeatRequest{Occupant: &pb.SeatRequest_Bot{Bot: "greedy"}}
		created, err := pb.NewGameServiceClient(conn).CreateGame(ctx, &pb.CreateGameRequest{
			Variant: "tribolo", Seats: []*pb.SeatRequest{greedy, greedy, greedy},
		})
		require.NoError(t, err)

		overdue := func() bool {
			due, err := client.ZScore(ctx, "due", created.GetGame().GetId()).Result()
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
