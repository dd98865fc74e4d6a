//go:build slow

package fault

import (
	"context"
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

// pastReaders is the number of streams that read a game from its start concurrently.
const pastReaders = 128

// Ensure that clients that repeatedly read a long game from its first event always receive all
// of it, while other players move.
func TestReplays_Flood(t *testing.T) {
	t.Parallel()
	redis := redistest.StartRedis(t)
	env := newUncheckedEnv(t, redis.Addr(), redistest.NewClient(t, redis.Addr()))
	server, g := env.serveMeasured("--max-moves-per-second=0")
	b := newBaseline(t, env.player(server))
	long, err := b.player.playHeavy(t.Context(), pastLength)
	require.NoError(t, err)
	b.measureMoves(t) // warm up
	calm := b.measureMoves(t)
	g.collect(t)
	before, peak := g.read(t, residentMemory), g.peakMemory(t)

	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	request, err := proto.Marshal(&pb.WatchRequest{GameId: long, AfterVersion: fromStart(), EveryEvent: true})
	require.NoError(t, err)
	var whole atomic.Int64
	group, failed := errgroup.WithContext(ctx)
	for range pastReaders {
		conn, err := grpc.NewClient(server.addr, grpc.WithTransportCredentials(insecure.NewCredentials()),
			(&flood{dialer: dialFrom(t, 61)}).dialOption())
		require.NoError(t, err)
		t.Cleanup(func() { _ = conn.Close() })
		group.Go(func() error {
			for failed.Err() == nil {
				err := readPast(failed, conn, request)
				switch {
				case ctx.Err() != nil:
					return nil
				case status.Code(err) == codes.Unavailable: // the client has to retry
				case status.Code(err) == codes.ResourceExhausted && refusalOf(err).retry > 0: // it waited too long for its turn
				case err != nil:
					return err
				default:
					whole.Add(1)
				}
				select { // Limit the client's load: reading costs it more than the server.
				case <-ctx.Done():
				case <-time.After(time.Second):
				}
			}
			return nil
		})
	}
	waittest.Until(t, "a client has read the whole game", func() bool { return whole.Load() > 0 || failed.Err() != nil })
	began, read := time.Now(), whole.Load()
	var busy []time.Duration
	for range 3 {
		busy = append(busy, b.measureMoves(t)...)
	}
	perSecond := float64(whole.Load()-read) / time.Since(began).Seconds()
	cancel()
	require.NoError(t, group.Wait())
	t.Logf("%d readers of %d events: %.0f games read per second", pastReaders, pastLength, perSecond)
	logMoves(t, "readers of a long game", busy, calm)
	logMemory(t, "readers of a long game", peak(), before)
	b.finish(t)
}

// readPast watches a game from its first event until it has received all events.
func readPast(ctx context.Context, conn *grpc.ClientConn, request []byte) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stream, err := conn.NewStream(ctx, &grpc.StreamDesc{ServerStreams: true}, pb.GameService_Watch_FullMethodName, grpc.ForceCodec(discard{}))
	if err != nil {
		return err
	}
	if err := stream.SendMsg(request); err != nil {
		return err
	}
	if err := stream.CloseSend(); err != nil {
		return err
	}
	for range pastLength {
		var size int
		if err := stream.RecvMsg(&size); err != nil {
			return err
		}
	}
	return nil
}
