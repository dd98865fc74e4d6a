//go:build slow

package bench

import (
	"context"
	"encoding/binary"
	"net"
	"slices"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"

	"github.com/gridstand/gridstand/game"
	"github.com/gridstand/gridstand/game/bot"
	"github.com/gridstand/gridstand/game/replay"
	"github.com/gridstand/gridstand/game/variants"
	"github.com/gridstand/gridstand/internal/id"
	grpctest "github.com/gridstand/gridstand/internal/testkit/grpc"
	redistest "github.com/gridstand/gridstand/internal/testkit/redis"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
	"github.com/gridstand/gridstand/server"
	"github.com/gridstand/gridstand/server/internal/gamelog"
	"github.com/gridstand/gridstand/server/internal/store/storetest"
)

// serve starts a server whose store a benchmark also writes to directly.
func serve(b *testing.B, store string) string {
	b.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	server, err := server.Start(ctx, benchConfig(store))
	require.NoError(b, err)
	b.Cleanup(func() {
		cancel()
		require.NoError(b, server.Wait())
	})
	return server.Addr().String()
}

// library is a set of games that a benchmark writes directly to Redis, without a server.
type library struct {
	client redis.UniversalClient
	log    *gamelog.Log
}

func newLibrary(b *testing.B, store *redistest.Server) *library {
	b.Helper()
	return &library{redistest.NewClient(b, store.Addr()), gamelog.New(storetest.OnRedis(b, store.Addr()).Games)}
}

// author is the player of every game in a library.
var author = replay.Player{ID: id.Derive([]byte("author")), Name: "Author"}

// create starts the nth game of the library.
func (l *library) create(ctx context.Context, variant string, n int) (gamelog.Appended, error) {
	var secret [game.SeedSize]byte
	binary.BigEndian.PutUint64(secret[:], uint64(n)+1)
	seed, err := game.SeedFromBytes(secret[:])
	if err != nil {
		return gamelog.Appended{}, err
	}
	v, _ := variants.Current(variant)
	seats := slices.Repeat([]replay.Seat{{Bot: "greedy"}}, v.Seats)
	seats[0] = replay.Seat{Player: author}
	draft, err := gamelog.NewGame(id.Derive([]byte(variant), secret[:]), replay.Created{
		Variant: v.ID, Revision: v.Revision, Creator: author, Seats: seats, Commitment: seed.Commitment(),
	}, seed)
	if err != nil {
		return gamelog.Appended{}, err
	}
	return l.log.Append(ctx, draft)
}

// move appends a move for the seat whose turn it is.
func (l *library) move(ctx context.Context, tip gamelog.Tip, move game.Move) (gamelog.Appended, error) {
	entry := replay.Entry{Seat: tip.State.Turn(), Action: replay.Moved{Move: move}}
	draft, err := tip.Draft(entry, time.Time{}, nil)
	if err != nil {
		return gamelog.Appended{}, err
	}
	return l.log.Append(ctx, draft)
}

// long is the number of moves in a long game.
const long = 10_000

// play creates a game, makes the given number of moves, and returns the events. The moves are
// those of the greedy bot, which survives for a long time on a 6×6 board.
func (l *library) play(b *testing.B, moves int) []*replay.Event {
	b.Helper()
	variant, ok := variants.Current("6x6")
	require.True(b, ok)
	player, err := bot.New("greedy", variant, bot.Options{})
	require.NoError(b, err)
	ctx := context.Background()
	appended, err := l.create(ctx, variant.ID, moves)
	require.NoError(b, err)
	events := append(make([]*replay.Event, 0, moves+1), appended.Event)
	for range moves {
		move, err := player.Choose(ctx, appended.Tip.State.Position)
		require.NoError(b, err)
		appended, err = l.move(ctx, appended.Tip, move)
		require.NoError(b, err)
		events = append(events, appended.Event)
	}
	return events
}

// serveBare serves the handlers on a gRPC server without interceptors or options.
func serveBare(b *testing.B, games *bareGames) string {
	b.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(b, err)
	server := grpc.NewServer()
	pb.RegisterGameServiceServer(server, games)
	grpctest.Serve(b, server, listener)
	return listener.Addr().String()
}

// bareGames implements the service with functions supplied by a benchmark.
type bareGames struct {
	pb.UnimplementedGameServiceServer

	watch func(*pb.WatchRequest, grpc.ServerStreamingServer[pb.WatchResponse]) error
}

func (g *bareGames) Watch(request *pb.WatchRequest, stream grpc.ServerStreamingServer[pb.WatchResponse]) error {
	return g.watch(request, stream)
}
