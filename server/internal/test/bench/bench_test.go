//go:build slow

package bench

import (
	"context"
	"log/slog"
	"os/exec"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"

	playertest "github.com/gridstand/gridstand/internal/testkit/player"
	redistest "github.com/gridstand/gridstand/internal/testkit/redis"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
	"github.com/gridstand/gridstand/server"
)

// span is how long each side of a comparison runs in one round.
const span = 2 * time.Second

// startRedis starts a Redis server, or fails the benchmark if Redis is not installed.
func startRedis(b *testing.B, args ...string) *redistest.Server {
	b.Helper()
	_, err := exec.LookPath("redis-server")
	require.NoError(b, err, "the benchmarks need redis-server")
	return redistest.StartRedis(b, args...)
}

// startStore starts a Redis server that syncs every move to disk, and returns its URL.
func startStore(b *testing.B) string {
	b.Helper()
	return startRedis(b, "--appendonly", "yes", "--appendfsync", "always").URL()
}

// benchConfig returns the default configuration with metrics, as in production, but without
// per-player limits.
func benchConfig(redis string) server.Config {
	config := server.DefaultConfig()
	config.Listen, config.Store, config.Metrics = "127.0.0.1:0", redis, "127.0.0.1:0"
	config.Logger, config.Exhibition = slog.New(slog.DiscardHandler), false
	return config.Unlimited()
}

func dial(b *testing.B, address string, options ...grpc.DialOption) *grpc.ClientConn {
	b.Helper()
	options = append([]grpc.DialOption{grpc.WithTransportCredentials(insecure.NewCredentials())}, options...)
	conn, err := grpc.NewClient(address, options...)
	require.NoError(b, err)
	b.Cleanup(func() { _ = conn.Close() })
	return conn
}

// player plays games of 2048, one after another.
type player struct {
	*playertest.Player
	game  *pb.Game
	event *pb.Event
}

func newPlayer(b *testing.B, conn grpc.ClientConnInterface, name string) *player {
	b.Helper()
	p := &player{Player: playertest.New(context.Background(), b, conn, name)}
	require.NoError(b, p.begin())
	return p
}

func (p *player) begin() error {
	created, err := p.Games.CreateGame(p.Ctx, &pb.CreateGameRequest{Variant: "6x6"})
	p.game, p.event = created.GetGame(), nil
	return err
}

// move makes a move, or starts a new game if the current one has no legal moves left.
func (p *player) move() error {
	request := playertest.Slide(p.game)
	if request == nil {
		return p.begin()
	}
	moved, err := p.Games.Move(p.Ctx, request)
	if err == nil {
		p.event = moved.GetEvent()
		playertest.Apply(p.game, p.event)
	}
	return err
}

// perSecond calls all functions in works concurrently, each in a loop, for the duration span,
// and returns the number of calls per second. If arrived is not nil, perSecond calls it with the
// number of calls made; arrived must not return until all watchers have received the events of
// these calls.
func perSecond(b *testing.B, works []func() error, arrived func(done int64)) float64 {
	b.Helper()
	var done atomic.Int64
	var group sync.WaitGroup
	began := time.Now()
	for _, work := range works {
		group.Go(func() {
			for time.Since(began) < span {
				if err := work(); err != nil {
					b.Error(err)
					return
				}
				done.Add(1)
			}
		})
	}
	group.Wait()
	if arrived != nil {
		arrived(done.Load())
	}
	return float64(done.Load()) / time.Since(began).Seconds()
}

// bareMove returns a function that calls a bare server with a request the same size as a real
// move's.
func bareMove(conn *grpc.ClientConn, sample *pb.Event) func() error {
	games := pb.NewGameServiceClient(conn)
	ctx := metadata.AppendToOutgoingContext(context.Background(),
		"authorization", "Bearer "+sample.GetGameId()+"."+sample.GetGameId())
	request := &pb.MoveRequest{
		GameId: sample.GetGameId(), Version: 100, Move: &pb.MoveRequest_Direction{Direction: pb.Direction_DIRECTION_UP},
	}
	return func() error {
		_, err := games.Move(ctx, request)
		return err
	}
}
