package benchtest

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/encoding"
	"google.golang.org/grpc/mem"
	"google.golang.org/grpc/metadata"

	"github.com/gridstand/gridstand/internal/ratio"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
	"github.com/gridstand/gridstand/server/app"
	"github.com/gridstand/gridstand/server/redistest"
)

const (
	// span is how long each side of a comparison is measured in one round.
	span = 2 * time.Second
	// watchers are shown one game, so many on a connection.
	watchers      = 5000
	perConnection = 250
	// ahead is how far the slowest watcher may be behind: less than a match
	// keeps in memory, so that nobody gets a game in place of events.
	ahead = 32
)

// start starts a server on a Redis that writes every move to disk.
func start(b *testing.B) string {
	b.Helper()
	redis := redistest.StartRedis(b, "--appendonly", "yes", "--appendfsync", "always")
	config := app.DefaultConfig()
	config.Listen, config.Redis = "127.0.0.1:0", redis.URL()
	config.Logger = slog.New(slog.DiscardHandler)
	config.MaxMovesPerSecond, config.MaxOpenGames = 0, 0
	ctx, cancel := context.WithCancel(context.Background())
	server, err := app.Start(ctx, config)
	require.NoError(b, err)
	b.Cleanup(func() {
		cancel()
		require.NoError(b, server.Wait())
	})
	return server.Addr().String()
}

func dial(b *testing.B, address string, options ...grpc.DialOption) *grpc.ClientConn {
	b.Helper()
	options = append(options, grpc.WithTransportCredentials(insecure.NewCredentials()))
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

// move makes the first legal move.
func (p *player) move() error {
	position, version := p.game.GetPosition(), p.game.GetVersion()
	if p.event != nil {
		position, version = p.event.GetPosition(), p.event.GetVersion()
	}
	legal := position.GetTwenty48().GetLegalMoves()
	if len(legal) == 0 {
		return p.begin()
	}
	moved, err := p.games.Move(p.ctx, &pb.MoveRequest{
		GameId: p.game.GetId(), Version: version, Move: &pb.MoveRequest_Direction{Direction: legal[0]},
	})
	p.event = moved.GetEvent()
	return err
}

// perSecond runs each of the works over and over for a while, all at once, and
// returns how often they were done in a second.
func perSecond(b *testing.B, works []func() error) float64 {
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

// counting is a codec that looks at no more of a message than its first byte,
// which tells an event from an audience: reading messages is the watchers' cost
// and not the server's.
type counting struct{ encoding.CodecV2 }

func (counting) Unmarshal(data mem.BufferSlice, first any) error {
	*first.(*byte) = data[0].ReadOnlyData()[0]
	return nil
}

// eventTag is the first byte of a WatchResponse that brings an event: field 2,
// a message.
const eventTag = 2<<3 | 2

func (counting) Name() string { return "proto" }

// audience are watchers who count what they are shown.
type audience struct {
	seen []atomic.Int64
}

func watch(b *testing.B, address string, request *pb.WatchRequest) *audience {
	b.Helper()
	a := &audience{seen: make([]atomic.Int64, watchers)}
	ctx, cancel := context.WithCancel(context.Background())
	var group, open sync.WaitGroup
	codec := counting{encoding.GetCodecV2("proto")}
	for first := 0; first < watchers; first += perConnection {
		games := pb.NewGameServiceClient(dial(b, address))
		for i := first; i < first+perConnection; i++ {
			open.Add(1)
			group.Go(func() {
				stream, err := games.Watch(ctx, request, grpc.ForceCodecV2(codec))
				if err == nil {
					_, err = stream.Header()
				}
				open.Done()
				for first := byte(0); err == nil; {
					if err = stream.RecvMsg(&first); err == nil && first == eventTag {
						a.seen[i].Add(1)
					}
				}
				if ctx.Err() == nil {
					b.Error(err)
				}
			})
		}
	}
	open.Wait()
	// After the connections', so that it runs before theirs.
	b.Cleanup(func() {
		cancel()
		group.Wait()
	})
	return a
}

// least is how many messages the slowest watcher has seen.
func (a *audience) least() int64 {
	least := a.seen[0].Load()
	for i := range a.seen {
		least = min(least, a.seen[i].Load())
	}
	return least
}

// perSecond calls publish for a while, never further ahead than allowed, and
// returns how many messages arrived in a second.
func (a *audience) perSecond(b *testing.B, publish func() error) float64 {
	b.Helper()
	before, began := a.least(), time.Now()
	published := int64(0)
	look := time.NewTicker(100 * time.Microsecond)
	defer look.Stop()
	for time.Since(began) < span {
		for published-(a.least()-before) >= ahead {
			<-look.C
		}
		if err := publish(); err != nil {
			b.Error(err)
			break
		}
		published++
	}
	for a.least()-before < published {
		<-look.C
	}
	return float64(published) * watchers / time.Since(began).Seconds()
}

// BenchmarkFanOut compares events shown to watchers of one game with messages
// sent to as many bare streams, each set off by a call like a move.
func BenchmarkFanOut(b *testing.B) {
	address := start(b)
	p := newPlayer(b, dial(b, address), "player")
	require.NoError(b, p.move())
	bare := startBare(b, p.event, true)
	publish := bareMove(dial(b, bare), p.event)
	version := p.event.GetVersion()
	ours := watch(b, address, &pb.WatchRequest{GameId: p.game.GetId(), AfterVersion: &version})
	theirs := watch(b, bare, &pb.WatchRequest{})
	ratio.Compare(b, "events/s", ratio.AtLeast(0.95),
		func() float64 { return ours.perSecond(b, p.move) },
		func() float64 { return theirs.perSecond(b, publish) })
}
