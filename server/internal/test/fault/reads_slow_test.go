//go:build slow

package fault

import (
	"context"
	"math/rand/v2"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	playertest "github.com/gridstand/gridstand/internal/testkit/player"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
	"github.com/gridstand/gridstand/server/limits"
)

const (
	// perConnection is the number of lists that are in flight on a connection.
	perConnection = 100
	// unreadConnections is the number of connections that watch and read nothing, and unreadStreams the
	// number of their streams.
	unreadConnections, unreadStreams = 4, 1000
	// pastReaders is the number of streams that read a game from its start concurrently.
	pastReaders = 128
	// readPause is how long a reader waits before it reads again. Reading costs the client more than the
	// server, and both share a machine with the players.
	readPause = time.Second
)

// badReaders lists the bad clients that make a server read: many lists, a long game from its first event
// again and again, and very long games in every way that the contract has.
var badReaders = []badClient{
	{"eight lists of 200 games at once", true, 500, lists(8, 0)},
	{"800 lists of 200 games at once", true, 500, lists(800, readPause)},
	{"readers of a long game", false, 0, func(ctx context.Context, f *flood) error {
		request, err := proto.Marshal(&pb.WatchRequest{GameId: f.past, AfterVersion: fromStart(), EveryEvent: true})
		if err != nil {
			return err
		}
		return f.repeatWith(ctx, pastReaders, func() func(*rand.Rand) error {
			conn := f.dial(ctx)
			return func(*rand.Rand) error {
				defer pause(ctx, readPause)
				return readPast(ctx, conn, request)
			}
		})
	}},
	{"reads of very long games", true, 0, func(ctx context.Context, f *flood) error {
		c, n := f.owner.on(f.server, f.dialOption()), 0
		calls := c.heavyReads()
		return f.repeatWith(ctx, 8*len(calls)*len(f.heavy), func() func(*rand.Rand) error {
			call, gameID := calls[n%len(calls)], f.heavy[n/len(calls)%len(f.heavy)]
			n++
			return func(*rand.Rand) error {
				within, cancel := context.WithTimeout(ctx, patience)
				defer cancel()
				err := call(within, gameID)
				pause(ctx, refusedPause)
				if status.Code(err) != codes.ResourceExhausted {
					return nil // Other calls may have changed the game.
				}
				return err
			}
		})
	}},
}

// discard is a codec that does not decode responses, so that a flood costs its client as little
// as possible.
type discard struct{}

func (discard) Marshal(v any) ([]byte, error)   { return v.([]byte), nil }
func (discard) Unmarshal(b []byte, v any) error { *v.(*int) = len(b); return nil }
func (discard) Name() string                    { return "proto" }

// lists returns the work of a client that has n lists in flight, and waits before it repeats a refused
// one.
func lists(n int, wait time.Duration) func(ctx context.Context, f *flood) error {
	return func(ctx context.Context, f *flood) error {
		request, err := proto.Marshal(&pb.ListGamesRequest{PageSize: 200})
		if err != nil {
			return err
		}
		var conn *grpc.ClientConn
		begun := 0
		return f.repeatWith(ctx, n, func() func(*rand.Rand) error {
			if begun%perConnection == 0 {
				conn = f.dial(ctx)
			}
			begun++
			own := conn
			return func(*rand.Rand) error {
				err := own.Invoke(ctx, pb.GameService_ListGames_FullMethodName, request, new(int), grpc.ForceCodec(discard{}))
				if err != nil {
					pause(ctx, wait)
				}
				return err
			}
		})
	}
}

// readPast watches a game from its first event until it has received pastLength events.
func readPast(ctx context.Context, conn *grpc.ClientConn, request []byte) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stream, err := conn.NewStream(ctx, &grpc.StreamDesc{ServerStreams: true}, pb.GameService_Watch_FullMethodName, grpc.ForceCodec(discard{}))
	if err == nil {
		err = stream.SendMsg(request)
	}
	if err == nil {
		err = stream.CloseSend()
	}
	for n := 0; err == nil && n < pastLength; n++ {
		err = stream.RecvMsg(new(int))
	}
	return err
}

// unreadWatches opens watches that read nothing, of a long game from its first event and of another game,
// which it plays as fast as the default limits allow.
func (f *flood) unreadWatches(ctx context.Context) error {
	c := f.w.player(f.server, f.dialOption())
	game, err := c.create(ctx, ofVariant("6x6"))
	if err != nil {
		return err
	}
	for range unreadConnections {
		raw, err := dialRaw(ctx, f.dialer, f.server.addr, slowWindow)
		if err != nil {
			return err
		}
		defer func() { _ = raw.conn.Close() }()
		for n := range unreadStreams {
			request := &pb.WatchRequest{GameId: game.GetId()}
			if n%2 == 0 {
				request = &pb.WatchRequest{GameId: f.gameID, AfterVersion: fromStart(), EveryEvent: true}
			}
			if _, err := raw.call(pb.GameService_Watch_FullMethodName, request); err != nil {
				return err
			}
		}
	}
	f.ready()
	for ctx.Err() == nil && game.GetVersion() < longer {
		_, err := c.move(ctx, game, playertest.Lasting(game.GetVersion(), game.GetPosition()))
		if err != nil && ctx.Err() == nil {
			return err
		}
		pause(ctx, time.Second/time.Duration(limits.Default()[limits.MovesPerSecond]))
	}
	<-ctx.Done()
	return nil
}
