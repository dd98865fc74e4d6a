//go:build slow

package fault

import (
	"context"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/gridstand/gridstand/game/replay"
	redistest "github.com/gridstand/gridstand/internal/testkit/redis"
	waittest "github.com/gridstand/gridstand/internal/testkit/wait"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
	"github.com/gridstand/gridstand/server/internal/gamelog"
	"github.com/gridstand/gridstand/server/internal/store"
)

const (
	// pastLength is the number of events in the other games that floods read.
	pastLength = 3001
	// heavyGames is the number of long games that the flood reads, and heavyLength is the number of
	// events in each. It leaves room for undos below the limit.
	heavyGames  = 4
	heavyLength = 195_000
	// farUndo is the version after which the games are taken back to their first one.
	farUndo = 400
)

// playHeavy creates a game with the given number of events: moves that are undone, one of them far
// back. Most events are written straight
// to the store, because players would need an hour for them.
func (c *caller) playHeavy(ctx context.Context, length int32) (gameID string, err error) {
	game, err := c.create(ctx, ofVariant("6x6"))
	if err != nil {
		return "", err
	}
	log := gamelog.New(c.env.ports().Games)
	history, err := log.Load(ctx, game.GetId(), store.ID{}, 1)
	if err != nil {
		return "", err
	}
	tip := history.Tip
	first, before := tip.State, tip.State
	for tip.State.Version < length {
		entry := replay.Entry{Action: replay.Moved{Move: tip.State.LegalMoves()[0]}}
		if tip.State.Version == farUndo {
			before = first
		}
		if tip.State.Version%2 == 0 {
			entry.Action = replay.Undone{To: before.Version}
		} else {
			before = tip.State
		}
		draft, err := tip.Draft(entry, time.Time{}, func(int32) (*replay.State, error) { return before, nil })
		if err != nil {
			return "", err
		}
		appended, err := log.Append(ctx, draft)
		if err != nil {
			return "", err
		}
		tip = appended.Tip
	}
	return game.GetId(), nil
}

// heavyReader is a client that makes a server read very long games in every way that the contract
// has. Its games belong to its account.
type heavyReader struct {
	*caller
	games             []string
	answered, refused atomic.Int64
}

// calls are the calls by which a client makes a server read a game.
func (h *heavyReader) calls() []func(ctx context.Context, gameID string) error {
	return []func(ctx context.Context, gameID string) error{
		func(ctx context.Context, gameID string) error {
			_, err := h.caller.games.GetGame(ctx, &pb.GetGameRequest{GameId: gameID})
			return err
		},
		func(ctx context.Context, gameID string) error {
			_, err := h.caller.games.Move(h.authorized(ctx), &pb.MoveRequest{
				GameId: gameID, Version: 1, Move: &pb.MoveRequest_Direction{Direction: pb.Direction_DIRECTION_UP},
			})
			return err
		},
		h.undoFarBack,
		func(ctx context.Context, gameID string) error {
			stream, err := h.caller.games.Watch(ctx, &pb.WatchRequest{GameId: gameID, AfterVersion: fromStart(), EveryEvent: true})
			for n := 0; err == nil && n < heavyLength-100; n++ {
				_, err = stream.Recv()
			}
			if err == nil { // Read no further, so that the server keeps what it has replayed.
				<-ctx.Done()
			}
			return err
		},
	}
}

// undoFarBack takes a game of the caller's back to its second version.
func (c *caller) undoFarBack(ctx context.Context, gameID string) error {
	now, err := c.games.GetGame(ctx, &pb.GetGameRequest{GameId: gameID})
	if err == nil {
		_, err = c.games.Undo(c.authorized(ctx), &pb.UndoRequest{
			GameId: gameID, Version: now.GetGame().GetVersion(), ToVersion: proto.Int32(2),
		})
	}
	return err
}

// run makes many calls at the same time until ctx is done.
func (h *heavyReader) run(ctx context.Context) {
	var group sync.WaitGroup
	for _, call := range h.calls() {
		for n := range 8 * len(h.games) {
			group.Go(func() {
				for ctx.Err() == nil {
					within, cancel := context.WithTimeout(ctx, patience)
					err := call(within, h.games[n%len(h.games)])
					cancel()
					if status.Code(err) == codes.ResourceExhausted {
						h.refused.Add(1)
					} else {
						h.answered.Add(1)
					}
					select { // Limit the client's load.
					case <-ctx.Done():
					case <-time.After(100 * time.Millisecond):
					}
				}
			})
		}
	}
	group.Wait()
}

// Ensure that, while a client makes a server read very long games and is refused for it, other players
// move and the server replays their games.
func TestLoads_Flood(t *testing.T) {
	t.Parallel()
	// Redis writes the games several times as fast as a file does.
	redis := redistest.StartRedis(t)
	env := newUncheckedEnv(t, redis.Addr(), redistest.NewClient(t, redis.Addr()))
	env.wrapper = []string{"env", "GOMEMLIMIT=" + strconv.Itoa(memoryLimit)}
	server := env.serveProgram()
	bad, other := env.player(server), env.player(server)
	var group errgroup.Group
	heavy := make([]string, heavyGames)
	for n := range heavy {
		group.Go(func() (err error) {
			heavy[n], err = bad.playHeavy(t.Context(), heavyLength)
			return err
		})
	}
	require.NoError(t, group.Wait())
	past, err := other.playHeavy(t.Context(), pastLength)
	require.NoError(t, err)
	server.stop()

	server, g := env.serveMeasured("--max-moves-per-second=0") // It has no game in memory.
	b := newBaseline(t, env.player(server))
	b.measureMoves(t) // warm up
	calm := b.measureMoves(t)
	g.collect(t)
	before := g.read(t, residentMemory)
	peak := g.peakMemory(t)
	connected := func(c *caller, options ...grpc.DialOption) *caller {
		again := env.anonymous(server, options...)
		again.token = c.token
		return again
	}
	h := &heavyReader{caller: connected(bad, (&flood{dialer: dialFrom(t, 62)}).dialOption()), games: heavy}
	other = connected(other)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	done := make(chan struct{})
	go func() {
		defer close(done)
		h.run(ctx)
	}()
	var busy []time.Duration
	for began := time.Now(); time.Since(began) < 10*time.Second; {
		busy = append(busy, b.measureMoves(t)...)
		require.NoError(t, other.undoFarBack(t.Context(), past))
	}
	waittest.Until(t, "a call is refused", func() bool { return h.refused.Load() > 0 })
	cancel()
	<-done
	t.Logf("%d games of %d events: %d calls answered, %d refused", heavyGames, heavyLength, h.answered.Load(), h.refused.Load())
	logMoves(t, "reads of very long games", busy, calm)
	logMemory(t, "reads of very long games", peak(), before)
	b.finish(t)
}
