//go:build slow

package fault

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	redistest "github.com/gridstand/gridstand/internal/testkit/redis"
	waittest "github.com/gridstand/gridstand/internal/testkit/wait"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

const (
	// readers is the number of in-flight calls in the flood of lists.
	readers = 9900
	// readerConnections is the number of connections used by the flood. It needs several,
	// because the number of calls per connection is limited.
	readerConnections = 5
	// readPause is how long the flood waits before it retries a refused call. A refusal costs
	// the client more than the server, and both share a machine with the players.
	readPause = 3 * time.Second
	// stalledTurn is the turn limit of the flooding player's game.
	stalledTurn = 5 * time.Second
)

// discard is a codec that does not decode responses, so that a flood costs its client as little
// as possible.
type discard struct{}

func (discard) Marshal(v any) ([]byte, error)   { return v.([]byte), nil }
func (discard) Unmarshal(b []byte, v any) error { *v.(*int) = len(b); return nil }
func (discard) Name() string                    { return "proto" }

// readFlood calls ListGames with the largest page size, all from one address and without an
// account.
type readFlood struct {
	granted, refused atomic.Int64
}

// run keeps the flood's calls in flight until ctx is done. It pauses before it retries a refused
// call.
func (f *readFlood) run(ctx context.Context, addr string, from grpc.DialOption) error {
	var conns []*grpc.ClientConn
	for range readerConnections {
		conn, err := grpc.NewClient(addr, grpc.WithTransportCredentials(insecure.NewCredentials()), from)
		if err != nil {
			return err
		}
		defer func() { _ = conn.Close() }()
		conns = append(conns, conn)
	}
	request, err := proto.Marshal(&pb.ListGamesRequest{PageSize: 200})
	if err != nil {
		return err
	}
	var group errgroup.Group
	for n := range readers {
		group.Go(func() error {
			for ctx.Err() == nil {
				var size int
				err := conns[n%len(conns)].Invoke(ctx, pb.GameService_ListGames_FullMethodName, request, &size, grpc.ForceCodec(discard{}))
				switch code := status.Code(err); {
				case ctx.Err() != nil:
					return nil
				case err == nil:
					f.granted.Add(1)
					continue
				case code == codes.ResourceExhausted:
					if f.refused.Add(1) == 1 && refusalOf(err).retry <= 0 {
						return fmt.Errorf("no retry hint: %w", err)
					}
				case code == codes.Unavailable, code == codes.DeadlineExceeded:
					// The server gave up on a client that was too slow.
				default:
					return fmt.Errorf("listing games failed: %w", err)
				}
				select {
				case <-ctx.Done():
				case <-time.After(readPause):
				}
			}
			return nil
		})
	}
	return group.Wait()
}

// Ensure that the calls of a flood of list requests from one address are refused with a retry hint,
// that other players can continue to play, and that no clock stops: a player who stalls runs out of
// time.
func TestReads_Flood(t *testing.T) {
	t.Parallel()
	redis := redistest.StartRedis(t)
	env := newUncheckedEnv(t, redis.Addr(), redistest.NewClient(t, redis.Addr()))
	server, g := env.serveMeasured("--max-moves-per-second=0", "--max-new-games-per-minute=0")
	b := newBaseline(t, env.player(server))
	var group errgroup.Group
	group.SetLimit(4) // so that none has to wait for a slot of this address
	for range 250 {   // so that lists are not empty
		group.Go(func() error {
			_, err := b.player.create(t.Context(), ofVariant("6x6"))
			return err
		})
	}
	require.NoError(t, group.Wait())
	b.measureMoves(t) // warm up
	calm := b.measureMoves(t)
	g.collect(t)
	before, peak := g.read(t, residentMemory), g.peakMemory(t)

	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	f := &readFlood{}
	done := make(chan error, 1)
	from := (&flood{dialer: dialFrom(t, 60)}).dialOption()
	go func() { done <- f.run(ctx, server.addr, from) }()
	waittest.Until(t, "calls are answered and refused", func() bool { return f.granted.Load() > 0 && f.refused.Load() > 0 })
	game, _ := waitingTable(t, env, server, stalledTurn)
	table := participate(t, &participant{gameID: game.GetId(), clients: []*caller{env.anonymous(server)}})
	busy := b.measureMoves(t)
	table.awaitEvent(t, "the end of the stalling player's time", func(e *pb.Event) bool { return e.GetTimedOut() != nil })
	busy = append(busy, b.measureMoves(t)...)
	cancel()
	require.NoError(t, <-done)
	t.Logf("%d lists in flight: %d answered, %d refused", readers, f.granted.Load(), f.refused.Load())
	logMoves(t, "lists", busy, calm)
	logMemory(t, "lists", peak(), before)
	b.finish(t)
}
