package fault

import (
	"context"
	"os/exec"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/protobuf/proto"

	"github.com/gridstand/gridstand/internal/testkit/longtest"
	"github.com/gridstand/gridstand/internal/testkit/process"
	redistest "github.com/gridstand/gridstand/internal/testkit/redis"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

const (
	// pastLength is how many events the game has that the flood reads, and
	// pastReaders how many streams read them at the same time.
	pastLength  = 3001
	pastReaders = 128
)

// longPast has a player bring a new game to pastLength events, going back now and
// then so that it does not end.
func (c *caller) longPast(t *testing.T) *pb.Game {
	t.Helper()
	const stretch = 50
	rng, game := seeded(t), c.start(t, "6x6")
	at := after(&pb.Event{GameId: game.GetId(), Version: game.GetVersion(), Position: game.GetPosition()})
	for at.GetVersion() < pastLength {
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
	return game
}

// Ensure that clients who read a long game from its first event on, again and
// again, each get all of it, cost little memory, and leave players their moves.
func TestReplays_flood_long(t *testing.T) {
	longtest.Skip(t)
	t.Parallel()
	redis := redistest.StartRedis(t)
	w := newUnchecked(t, redis.Addr(), redistest.NewClient(t, redis.Addr()))
	server := w.serveProgram(exec.Command(process.Build(t, "cmd/gridstand-server")), w.addr,
		"--max-moves-per-second=0", "--metrics", "127.0.0.1:0", "--pprof")
	g := server.gauges(t)
	s := &steady{player: w.player(server), rng: seeded(t)}
	s.begin(t)
	long := s.player.longPast(t)
	s.moves(t) // to warm up
	calm := s.moves(t)
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
			(&flood{dialer: place(t, 61)}).from())
		require.NoError(t, err)
		t.Cleanup(func() { _ = conn.Close() })
		group.Go(func() error {
			for failed.Err() == nil {
				err := readPast(failed, conn, request)
				switch {
				case ctx.Err() != nil:
					return nil
				case err != nil:
					return err
				}
				whole.Add(1)
				select { // Reading costs the client more than the server.
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
		busy = append(busy, s.moves(t)...)
	}
	peak := g.read(t, "process_resident_memory_bytes")
	perSecond := float64(whole.Load()-read) / time.Since(began).Seconds()
	cancel()
	require.NoError(t, group.Wait())
	slices.Sort(busy)
	t.Logf("%d readers of %d events: p50 %.2f ms (%.2f before), p99 %.1f ms (%.1f before); %.0f games read a second; %d MB (%d before)",
		pastReaders, pastLength, at(busy, 50).Seconds()*1000, at(calm, 50).Seconds()*1000,
		at(busy, 99).Seconds()*1000, at(calm, 99).Seconds()*1000, perSecond, peak>>20, before>>20)
	if !process.Race {
		assert.Less(t, peak, before+roomFor)
	}
}

// readPast watches a game from its first event on until all of it came.
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
