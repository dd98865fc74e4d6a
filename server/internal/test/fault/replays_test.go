package fault

import (
	"context"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/gridstand/gridstand/internal/testkit/longtest"
	"github.com/gridstand/gridstand/internal/testkit/process"
	redistest "github.com/gridstand/gridstand/internal/testkit/redis"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

const (
	// pastLength is the number of events in the game that the flood reads, and pastReaders is
	// the number of streams that read them concurrently.
	pastLength  = 3001
	pastReaders = 128
)

// playLongPast plays a new game until it has pastLength events.
func (c *caller) playLongPast(t *testing.T) *pb.Game {
	t.Helper()
	game := c.start(t, "6x6")
	c.playOn(t, game, pastLength)
	return game
}

// playOn plays a new game until it has the given number of events, with undos so that it does not
// end.
func (c *caller) playOn(t *testing.T, game *pb.Game, length int32) {
	t.Helper()
	const stretch = 50
	rng := seeded(t)
	at := after(&pb.Event{GameId: game.GetId(), Version: game.GetVersion(), Position: game.GetPosition()})
	for at.GetVersion() < length {
		if at.GetVersion()%stretch == 0 {
			response, err := c.games.Undo(c.authorized(t.Context()), &pb.UndoRequest{
				GameId: game.GetId(), Version: at.GetVersion(), ToVersion: proto.Int32(at.GetVersion() - stretch + 2),
			})
			require.NoError(t, err)
			at = after(response.GetEvent())
			continue
		}
		at = after(c.playTo(t, rng, at, at.GetVersion()+1))
	}
}

// Ensure that clients that repeatedly read a long game from its first event always receive all
// of it, cost the server little memory, and do not slow down players' moves.
func TestReplays_Flood_long(t *testing.T) {
	longtest.Skip(t)
	t.Parallel()
	redis := redistest.StartRedis(t)
	env := newUncheckedEnv(t, redis.Addr(), redistest.NewClient(t, redis.Addr()))
	server, g := env.serveMeasured("--max-moves-per-second=0")
	b := newBaseline(t, env.player(server))
	long := b.player.playLongPast(t)
	b.measureMoves(t) // warm up
	calm := b.measureMoves(t)
	g.collect(t)
	before := g.read(t, "process_resident_memory_bytes")

	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	request, err := proto.Marshal(&pb.WatchRequest{GameId: long.GetId(), AfterVersion: fromStart(), EveryEvent: true})
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
	require.Eventually(t, func() bool { return whole.Load() > 0 || failed.Err() != nil }, patience, time.Millisecond)
	began, read := time.Now(), whole.Load()
	var busy []time.Duration
	for len(busy) < 3*calmMoves {
		busy = append(busy, b.measureMoves(t)...)
	}
	peak := g.read(t, "process_resident_memory_bytes")
	perSecond := float64(whole.Load()-read) / time.Since(began).Seconds()
	slices.Sort(busy)
	b.assertQuick(t, "readers of a long game", calm, busy)
	cancel()
	require.NoError(t, group.Wait())
	t.Logf("%d readers of %d events: p50 %.2f ms (%.2f before), p99 %.1f ms (%.1f before); %.0f games read per second; %d MB (%d before)",
		pastReaders, pastLength, at(busy, 50).Seconds()*1000, at(calm, 50).Seconds()*1000,
		at(busy, 99).Seconds()*1000, at(calm, 99).Seconds()*1000, perSecond, peak>>20, before>>20)
	if !process.Race {
		assert.Less(t, peak, before+roomFor)
	}
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
