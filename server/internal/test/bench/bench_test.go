package bench

import (
	"context"
	"log/slog"
	"os/exec"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"

	redistest "github.com/gridstand/gridstand/internal/testkit/redis"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
	"github.com/gridstand/gridstand/server"
)

// span is how long each side of a comparison is measured in one round.
const span = 2 * time.Second

// startRedis starts a Redis, or fails if there is none.
func startRedis(b *testing.B, args ...string) *redistest.Server {
	b.Helper()
	_, err := exec.LookPath("redis-server")
	require.NoError(b, err, "without it nothing can be measured")
	return redistest.StartRedis(b, args...)
}

// startStore starts a Redis that writes every move to disk.
func startStore(b *testing.B) string {
	b.Helper()
	return startRedis(b, "--appendonly", "yes", "--appendfsync", "always").URL()
}

// benchConfig is the default one with metrics, as servers are run, without the
// limits that single players have.
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

// player moves in games of 2048, one after the other.
type player struct {
	games pb.GameServiceClient
	ctx   context.Context
	game  *pb.Game
	event *pb.Event
}

func newPlayer(b *testing.B, conn *grpc.ClientConn, name string) *player {
	b.Helper()
	answer, err := pb.NewPlayerServiceClient(conn).CreatePlayer(b.Context(), &pb.CreatePlayerRequest{Name: name})
	require.NoError(b, err)
	p := &player{
		games: pb.NewGameServiceClient(conn),
		ctx:   metadata.AppendToOutgoingContext(context.Background(), "authorization", "Bearer "+answer.GetToken()),
	}
	require.NoError(b, p.begin())
	return p
}

func (p *player) begin() error {
	created, err := p.games.CreateGame(p.ctx, &pb.CreateGameRequest{Variant: "6x6"})
	p.game, p.event = created.GetGame(), nil
	return err
}

// preferred is the order in which directions are tried: into a corner, so that a
// game lasts long: of 300 games the shortest had 430 moves, half more than 1,600.
var preferred = []pb.Direction{
	pb.Direction_DIRECTION_LEFT, pb.Direction_DIRECTION_DOWN, pb.Direction_DIRECTION_RIGHT, pb.Direction_DIRECTION_UP,
}

// move makes the first legal move of those preferred.
func (p *player) move() error {
	position, version := p.game.GetPosition(), p.game.GetVersion()
	if p.event != nil {
		position, version = p.event.GetPosition(), p.event.GetVersion()
	}
	legal := position.GetTwenty48().GetLegalMoves()
	first := slices.IndexFunc(preferred, func(d pb.Direction) bool { return slices.Contains(legal, d) })
	if first < 0 {
		return p.begin()
	}
	moved, err := p.games.Move(p.ctx, &pb.MoveRequest{
		GameId: p.game.GetId(), Version: version, Move: &pb.MoveRequest_Direction{Direction: preferred[first]},
	})
	p.event = moved.GetEvent()
	return err
}

// perSecond runs each of the works repeatedly for a while, all concurrently,
// and returns how often they ran per second. arrived, if set, is given the
// number of runs and returns once all watchers have been sent their events.
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

// bareMove is a call of the size of a move.
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
