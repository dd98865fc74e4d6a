package fault

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/gridstand/gridstand/internal/id"
	"github.com/gridstand/gridstand/internal/testkit/longtest"
	"github.com/gridstand/gridstand/internal/testkit/process"
	redistest "github.com/gridstand/gridstand/internal/testkit/redis"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

const (
	// calmMoves are what is measured before and beside each of the bad clients.
	calmMoves = 100
	// longestMove is what a move may take beside them until it is made, on any
	// machine.
	longestMove = 10 * time.Second
	// roomFor is the memory that bad clients may cost a server, in bytes.
	roomFor = 256 << 20
)

// steady is somebody who plays on and on.
type steady struct {
	player   *caller
	rng      *rand.Rand
	gameID   string
	version  int32
	position *pb.Position
}

func (s *steady) begin(t *testing.T) {
	t.Helper()
	request := ofVariant("6x6")
	require.NoError(t, retry(t.Context(), func(ctx context.Context) error {
		game, err := s.player.create(ctx, request)
		s.gameID, s.version, s.position = game.GetId(), game.GetVersion(), game.GetPosition()
		return err
	}))
}

// moves makes some moves and returns how long each took, the quickest first.
func (s *steady) moves(t *testing.T) []time.Duration {
	t.Helper()
	var took []time.Duration
	for range calmMoves {
		began := time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), longestMove)
		direction := random(s.rng, s.position)
		var event *pb.Event
		// Redis may be kept waiting, too, and the server does not wait for it for long.
		err := retry(ctx, func(ctx context.Context) (err error) {
			event, err = s.player.move(ctx, s.gameID, s.version, direction)
			return err
		})
		cancel()
		require.NoError(t, err)
		took = append(took, time.Since(began))
		s.version, s.position = event.GetVersion(), event.GetPosition()
		if event.GetResult() != nil {
			s.begin(t)
		}
	}
	slices.Sort(took)
	return took
}

// at is a percentile of times in order.
func at(took []time.Duration, percent int) time.Duration { return took[percent*(len(took)-1)/100] }

// Ensure people's moves go on beside clients who do anything but play, that
// those cost a server no more than so much memory, and that whoever asks for too
// much is refused. How much longer moves take is logged, at first and once limits
// are met, and how much of the machine the server had: the rest the bad clients
// took themselves.
func TestFloods_long(t *testing.T) {
	longtest.Skip(t)
	t.Parallel()
	redis := redistest.StartRedis(t)
	w := newUnchecked(t, redis.Addr(), redistest.NewClient(t, redis.Addr()))
	server := w.serveProgram(exec.Command(process.Build(t, "cmd/gridstand-server")), w.addr,
		"--max-moves-per-second=0", "--metrics", "127.0.0.1:0", "--pprof",
		// Less than it is by default, so that nobody has to wait for it, and so that
		// machines meet it on which everything takes long; enough for idlers, but for
		// the last of them, and for sleepers to come at once.
		"--max-connections-per-address=1500", fmt.Sprint("--max-new-connections-per-address-per-second=", connects),
		fmt.Sprint("--max-watches-per-address-per-second=", watches))
	g := server.gauges(t)
	s := &steady{player: w.player(server), rng: seeded(t)}
	s.begin(t)
	long := s.player.start(t, "6x6")
	s.player.playTo(t, s.rng, long, longer)
	for range 50 { // for lists
		_, err := s.player.create(t.Context(), ofVariant("6x6"))
		require.NoError(t, err)
	}
	s.moves(t) // to warm up
	g.collect(t)
	before := g.read(t, "process_resident_memory_bytes")
	for n, bad := range badClients {
		calm := s.moves(t)
		closed := g.read(t, "gridstand_connections_refused_total")
		ctx, cancel := context.WithCancel(t.Context())
		atWork := make(chan struct{})
		f := &flood{
			w: w, server: server, gameID: long.GetId(), dialer: place(t, n+1),
			ready: sync.OnceFunc(func() { close(atWork) }),
		}
		done := make(chan error, 1)
		go func() { done <- bad.work(ctx, f) }()
		select {
		case <-atWork:
		case err := <-done:
			cancel()
			require.NoError(t, err, bad.name)
		}
		began, worked := time.Now(), g.exactly(t, "process_cpu_seconds_total")
		busy := s.moves(t)
		closes := func() int { return g.read(t, "gridstand_connections_refused_total") - closed }
		assert.Eventually(t, func() bool {
			return !bad.limited || f.refused.Load() > 0 || closes() > 0 || f.within(bad.perSecond, began)
		}, 5*patience, 20*time.Millisecond, "%s: nobody is refused", bad.name)
		later := s.moves(t)
		memory := g.read(t, "process_resident_memory_bytes")
		cores := (g.exactly(t, "process_cpu_seconds_total") - worked) / time.Since(began).Seconds()
		cancel()
		require.NoError(t, <-done, bad.name)
		times := func(took []time.Duration, q int) float64 { return float64(at(took, q)) / float64(at(calm, q)) }
		t.Logf("%-26s p50 %.2f ms (%.1f times), p99 %.1f ms (%.1f times), then %.1f and %.1f times; "+
			"%d calls answered, %d refused, %d connections closed; server %.1f cores, %d MB (%d before)",
			bad.name, at(busy, 50).Seconds()*1000, times(busy, 50), at(busy, 99).Seconds()*1000, times(busy, 99), times(later, 50), times(later, 99),
			f.granted.Load(), f.refused.Load(), closes(), cores, memory>>20, before>>20)
		if !process.Race {
			assert.Less(t, memory, before+roomFor, bad.name)
			// The bad clients take as much of the machine as they can.
			assert.Less(t, at(busy, 99), longestMove/2+50*at(calm, 99), bad.name)
		}
		g.collect(t)
	}
}

// Ensure what one account and one address may create in a minute they may over
// all servers together, and that others may meanwhile.
func TestFloods_overServers(t *testing.T) {
	t.Parallel()
	redis := redistest.StartRedis(t)
	w := newUnchecked(t, redis.Addr(), redistest.NewClient(t, redis.Addr()))
	const players, games, together = 60, 30, 90
	servers := make([]*testServer, 3)
	for i := range servers {
		servers[i] = w.serveProgram(exec.Command(process.Build(t, "cmd/gridstand-server")), w.addr,
			"--max-new-players-per-minute=60", "--max-new-games-per-minute=30", "--max-new-games-per-address-per-minute=90")
	}
	// everywhere floods all servers from one place until each refused, and returns how
	// much it got, and how much of a minute's worth came anew meanwhile.
	everywhere := func(t *testing.T, n int, work func(ctx context.Context, f *flood) error) (granted int, minutes float64) {
		t.Helper()
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		defer cancel()
		group, ctx := errgroup.WithContext(ctx)
		began := time.Now()
		floods := make([]*flood, len(servers))
		for i, server := range servers {
			f := &flood{w: w, server: server, dialer: place(t, n), ready: func() {}}
			floods[i] = f
			group.Go(func() error { return work(ctx, f) })
		}
		require.Eventually(t, func() bool {
			return !slices.ContainsFunc(floods, func(f *flood) bool { return f.refused.Load() < 10 })
		}, patience, 5*time.Millisecond, "a server refuses nobody")
		for _, f := range floods {
			f.over.Store(true)
		}
		require.NoError(t, group.Wait())
		minutes = time.Since(began).Minutes()
		for _, f := range floods {
			granted += int(f.granted.Load())
		}
		return granted, minutes
	}
	// within requires that of so many a minute no more was got.
	within := func(t *testing.T, what string, perMinute, granted int, minutes float64) {
		t.Helper()
		assert.GreaterOrEqual(t, granted, perMinute, what)
		assert.LessOrEqual(t, float64(granted), float64(perMinute)*(1+minutes)+1, what)
		t.Logf("%s: %d of %d a minute granted by %d servers", what, granted, perMinute, len(servers))
	}

	granted, minutes := everywhere(t, 100, func(ctx context.Context, f *flood) error {
		c := f.w.anybody(f.server, f.from())
		return f.again(ctx, same(func(*rand.Rand) error {
			_, err := c.players.CreatePlayer(ctx, &pb.CreatePlayerRequest{Name: "f" + id.New()[:20]})
			return err
		}))
	})
	within(t, "players of an address", players, granted, minutes)

	one := w.player(servers[0])
	granted, minutes = everywhere(t, 101, func(ctx context.Context, f *flood) error {
		c := one.on(f.server, f.from())
		return f.again(ctx, same(func(*rand.Rand) error {
			_, err := c.create(ctx, ofVariant("classic"))
			return err
		}))
	})
	within(t, "games of an account", games, granted, minutes)

	granted, minutes = everywhere(t, 102, func(ctx context.Context, f *flood) error {
		return f.again(ctx, func() func(*rand.Rand) error {
			c := f.w.player(servers[0]).on(f.server, f.from())
			return func(*rand.Rand) error {
				_, err := c.create(ctx, ofVariant("classic"))
				return err
			}
		})
	})
	within(t, "games of an address", together, granted, minutes)

	other := w.player(servers[2])
	other.playTo(t, seeded(t), other.start(t, "6x6"), 3)
}
