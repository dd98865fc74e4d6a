package fault

import (
	"context"
	"fmt"
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
	// readers is the number of in-flight calls in the flood of lists.
	readers = 9900
	// readerConnections is the number of connections used by the flood. It needs several,
	// because the number of calls per connection is limited.
	readerConnections = 5
	// readPause is how long the flood waits before it retries a refused call. A refusal costs
	// the client more than the server, and both share a machine with the players.
	readPause = 3 * time.Second
	// readRoom is the amount of memory, in bytes, that the flood may cost a server. On a busy
	// machine, most of it consists of the stacks and buffers of calls that are waiting to be
	// refused.
	readRoom = 512 << 20
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

// Ensure that a flood of list requests from one address costs a server little memory, that its
// calls are refused with a retry hint, that other players can continue to play, and that no
// clock stops: the flooding player runs out of time as usual.
func TestReads_Flood_long(t *testing.T) {
	t.Parallel()
	longtest.Skip(t)
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
	before := g.read(t, "process_resident_memory_bytes")

	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	f := &readFlood{}
	done := make(chan error, 1)
	from := (&flood{dialer: dialFrom(t, 60)}).dialOption()
	go func() { done <- f.run(ctx, server.addr, from) }()
	require.Eventually(t, func() bool { return f.granted.Load() > 0 && f.refused.Load() > 0 || f.granted.Load() > readers },
		patience, 20*time.Millisecond, "no call was answered, or no call was refused")
	game, _ := waitingTable(t, env, server, stalledTurn)
	table := participate(t, &participant{gameID: game.GetId(), clients: []*caller{env.anonymous(server)}})
	var busy []time.Duration
	peak := 0
	ranOut := func() bool {
		return slices.ContainsFunc(table.seenEvents(), func(e *pb.Event) bool { return e.GetTimedOut() != nil })
	}
	// On a busy machine, a single iteration's moves may take as long as patience.
	for deadline := time.Now().Add(5 * patience); !ranOut(); {
		require.True(t, time.Now().Before(deadline), "the clock of the stalling player did not run out")
		busy = append(busy, b.measureMoves(t)...)
		peak = max(peak, g.read(t, "process_resident_memory_bytes"))
	}
	slices.Sort(busy)
	b.assertQuick(t, "lists", calm, busy)
	cancel()
	require.NoError(t, <-done)
	t.Logf("%d lists in flight: p50 %.2f ms (%.2f before), p99 %.1f ms (%.1f before), %d answered, %d refused; %d MB (%d before)",
		readers, at(busy, 50).Seconds()*1000, at(calm, 50).Seconds()*1000, at(busy, 99).Seconds()*1000, at(calm, 99).Seconds()*1000,
		f.granted.Load(), f.refused.Load(), peak>>20, before>>20)
	assert.Positive(t, f.refused.Load())
	if !process.Race {
		assert.Less(t, peak, before+readRoom)
	}
	for _, e := range table.seenEvents() {
		// A server also credits a stall of the whole machine, with up to a second each before and after it.
		assert.LessOrEqual(t, e.GetClockExtended().GetBy().AsDuration(), env.delays.Longest()+2*time.Second,
			"the flood gave the player extra time: %s", brief(e))
		if e.GetTimedOut() != nil {
			late := e.GetTime().AsTime().Sub(game.GetPosition().GetTurnDeadline().AsTime())
			assert.Less(t, late, punctual+env.delays.Allowance(), brief(e))
		}
	}
}
