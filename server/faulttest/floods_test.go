package faulttest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"os/exec"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"
	"google.golang.org/grpc/codes"

	"github.com/gridstand/gridstand/internal/id"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
	"github.com/gridstand/gridstand/server/childtest"
	"github.com/gridstand/gridstand/server/redistest"
)

const (
	idlers, sleepers, flooders = 1500, 200, 4
	// calmMoves are what is measured without and with each of the bad clients.
	calmMoves = 100
	// roomFor is the memory that bad clients may cost a server, in bytes.
	roomFor = 400 << 20
)

// badClients are those who keep a server busy with anything but games. Each
// works until ctx ends and returns how often the server refused it with a hint
// when to come again.
var badClients = map[string]func(ctx context.Context, f *flood) (refused int64, err error){
	"idle connections": func(ctx context.Context, f *flood) (int64, error) {
		for range idlers {
			conn, err := net.Dial("tcp", f.server.addr)
			if err != nil {
				return 0, err
			}
			defer func() { _ = conn.Close() }()
		}
		f.ready()
		<-ctx.Done()
		return 0, nil
	},
	"slow writers": func(ctx context.Context, f *flood) (int64, error) {
		preface := []byte("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")
		for n := range idlers / 3 {
			conn, err := net.Dial("tcp", f.server.addr)
			if err != nil {
				return 0, err
			}
			defer func() { _ = conn.Close() }()
			_, _ = conn.Write(preface[:n%len(preface)])
		}
		f.ready()
		<-ctx.Done()
		return 0, nil
	},
	"readers who never read": func(ctx context.Context, f *flood) (int64, error) {
		for range sleepers {
			if _, err := slowWatch(ctx, f.server.addr, &pb.WatchRequest{GameId: f.gameID, AfterVersion: fromStart()}); err != nil {
				return 0, err
			}
		}
		f.ready()
		<-ctx.Done()
		return 0, nil
	},
	"malformed and huge frames": func(ctx context.Context, f *flood) (int64, error) {
		return f.again(ctx, func(rng *rand.Rand) error {
			conn, err := net.Dial("tcp", f.server.addr)
			if err != nil {
				return err
			}
			defer func() { _ = conn.Close() }()
			garbage := make([]byte, 64<<10)
			for i := range garbage {
				garbage[i] = byte(rng.Uint32())
			}
			head := []byte("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\x00\x00\x00\x04\x00\x00\x00\x00\x00")
			if rng.IntN(2) == 0 { // a frame of 16 MB
				head = append(head, 0xff, 0xff, 0xff, byte(rng.IntN(10)), 0, 0, 0, 0, 1)
			}
			_, _ = conn.Write(append(head, garbage...)) // The server may have hung up.
			return nil
		})
	},
	"floods of games": func(ctx context.Context, f *flood) (int64, error) {
		c := f.w.player(f.server)
		return f.again(ctx, func(*rand.Rand) error {
			_, err := c.create(ctx, ofVariant("classic"))
			return err
		})
	},
	"floods of players": func(ctx context.Context, f *flood) (int64, error) {
		c := f.w.anybody(f.server)
		return f.again(ctx, func(*rand.Rand) error {
			_, err := c.players.CreatePlayer(ctx, &pb.CreatePlayerRequest{Name: "f" + id.New()[:20]})
			return err
		})
	},
	"watching and leaving": func(ctx context.Context, f *flood) (int64, error) {
		c := f.w.anybody(f.server)
		return f.again(ctx, func(*rand.Rand) error {
			ctx, cancel := context.WithCancel(ctx)
			defer cancel()
			stream, err := c.games.Watch(ctx, &pb.WatchRequest{GameId: f.gameID})
			if err == nil {
				_, err = stream.Recv()
			}
			return err
		})
	},
	"wrong tokens": func(ctx context.Context, f *flood) (int64, error) {
		c := f.w.anybody(f.server)
		return f.again(ctx, func(*rand.Rand) error {
			c := *c
			c.token = id.New() + "." + id.New()
			_, err := c.players.GetPlayer(c.authorized(ctx), &pb.GetPlayerRequest{PlayerId: "me"})
			if refusalOf(err).code == codes.Unauthenticated {
				return nil
			}
			return err
		})
	},
}

// flood is what a bad client works on.
type flood struct {
	w      *world
	server *server
	gameID string
	ready  func() // tells that it is at work
}

// again does something as fast as it goes, several times at once.
func (f *flood) again(ctx context.Context, do func(*rand.Rand) error) (int64, error) {
	var refused atomic.Int64
	group, ctx := errgroup.WithContext(ctx)
	for n := range flooders {
		rng := rand.New(rand.NewPCG(uint64(n), 31))
		group.Go(func() error {
			for ctx.Err() == nil {
				err := do(rng)
				r := refusalOf(err)
				switch {
				case ctx.Err() != nil:
					return nil
				case r.code == codes.ResourceExhausted && r.retry > 0:
					refused.Add(1)
				case r.code == codes.ResourceExhausted:
					return fmt.Errorf("no hint when to come again: %w", err)
				case err != nil && !unavailable(err):
					return err
				}
				f.ready()
			}
			return nil
		})
	}
	err := group.Wait()
	return refused.Load(), err
}

// Ensure people's moves go on beside clients who do anything but play, and that
// those cost a server no more than so much memory. How much longer moves take is
// logged: on a machine that has to carry both sides it says little.
func TestFloods(t *testing.T) {
	t.Parallel()
	redis := redistest.StartRedis(t)
	w := newUnchecked(t, redis.Addr(), redistest.NewClient(t, redis.Addr()))
	server := w.serveProgram(exec.Command(childtest.Build(t, "server")), w.addr,
		"--max-moves-per-second=0", "--metrics", "127.0.0.1:0", "--pprof")
	g := server.gauges(t)
	player := w.player(server)
	game := player.start(t, "6x6")
	rng := seeded(t)
	position := player.playTo(t, rng, game, 30).GetPosition()
	version := int32(30)

	// moves makes some moves and returns how long each took.
	moves := func() []time.Duration {
		var took []time.Duration
		for range calmMoves {
			began := time.Now()
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			event, err := player.move(ctx, game.GetId(), version, random(rng, position))
			cancel()
			require.NoError(t, err)
			took = append(took, time.Since(began))
			version, position = event.GetVersion(), event.GetPosition()
			if version > 1000 || event.GetResult() != nil {
				_, err := player.resign(t.Context(), game.GetId())
				require.NoError(t, err)
				game = player.start(t, "6x6")
				version, position = game.GetVersion(), game.GetPosition()
			}
		}
		slices.Sort(took)
		return took
	}
	g.collect(t)
	before := g.read(t, "process_resident_memory_bytes")
	moves() // to warm up
	calm := moves()
	for name, work := range badClients {
		ctx, cancel := context.WithCancel(t.Context())
		atWork := make(chan struct{})
		f := &flood{w, server, game.GetId(), sync.OnceFunc(func() { close(atWork) })}
		var refused int64
		done := make(chan error, 1)
		go func() {
			var err error
			refused, err = work(ctx, f)
			done <- err
		}()
		select {
		case <-atWork:
		case err := <-done:
			cancel()
			require.NoError(t, err, name)
		}
		busy := moves()
		memory := g.read(t, "process_resident_memory_bytes")
		cancel()
		require.NoError(t, <-done, name)
		ratio := func(q int) float64 { return float64(busy[q*(len(busy)-1)/100]) / float64(calm[q*(len(calm)-1)/100]) }
		t.Logf("%-28s p50 %v (%.1f times), p99 %v (%.1f times), %d calls refused, memory %d MB",
			name, busy[len(busy)/2].Round(time.Microsecond), ratio(50), busy[len(busy)*99/100].Round(time.Microsecond), ratio(99), refused, memory>>20)
		if !childtest.Race {
			assert.Less(t, memory, before+roomFor, name)
		}
	}
}
