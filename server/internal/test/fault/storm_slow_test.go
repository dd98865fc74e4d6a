//go:build slow

package fault

import (
	"cmp"
	"context"
	"flag"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/gridstand/gridstand/internal/testkit/process"
	redistest "github.com/gridstand/gridstand/internal/testkit/redis"
)

var (
	stormFor = flag.Duration("storm", 0,
		"minimum duration of TestStorm, which in any case injects every fault once")
	stormSeed = flag.Uint64("storm.seed", 0,
		"seed of TestCluster and of TestStorm and its kind, as logged by an earlier run; 0 draws a new one")
)

// drawSeed returns the seed given by -storm.seed, or else a new one, and logs it.
func drawSeed(t *testing.T) uint64 {
	t.Helper()
	seed := *stormSeed
	if seed == 0 {
		seed = rand.Uint64()
	}
	t.Logf("to repeat the random choices, add -args -storm.seed=%d", seed)
	return seed
}

// outageAfter is the shortest gap in the heartbeats of all servers for which clocks are
// credited.
const outageAfter = 3 * time.Second

// stormLoad is the traffic of TestStorm.
var stormLoad = load{solo: 8, tables: 3, workloads: 2, watchers: 2, pause: 20 * time.Millisecond}

// storm runs traffic through two servers backed by Redis, or one backed by a file, and injects
// faults between the servers, their store and the clients. The servers are processes of the
// server's program.
type storm struct {
	t       *testing.T
	env     *env
	redis   *redistest.Server // nil if the store is a file
	servers []*stormServer
	faults  []fault
}

// stormServer is one server, with a proxy through which clients connect and, if the store is
// Redis, a proxy in front of the store.
type stormServer struct {
	toClients, toRedis *redistest.Proxy
	server             *testServer
	// prober is a client that checks whether the server works.
	prober *caller
}

func newStormServer(t *testing.T, env *env) *stormServer {
	t.Helper()
	h, flags := &stormServer{}, []string{"--listen", process.FreeAddress(t)}
	if env.redis != nil {
		h.toRedis = redistest.StartProxy(t, env.addr)
		flags = append(flags, "--store=redis://"+h.toRedis.Addr())
	}
	h.server = env.serveProcess(flags...)
	h.toClients = redistest.StartProxy(t, h.server.addr)
	h.prober = env.player(h.frontEnd())
	return h
}

// frontEnd returns the server at the address that clients use.
func (h *stormServer) frontEnd() *testServer { return &testServer{addr: h.toClients.Addr()} }

// probe waits until the server has accepted a new game, a move and a resignation.
func (h *stormServer) probe(ctx context.Context, rng *rand.Rand) error {
	game, err := h.prober.create(ctx, ofVariant("classic"))
	if err != nil {
		return err
	}
	if _, err = h.prober.move(ctx, game, random(rng, game.GetPosition())); err != nil {
		return err
	}
	_, err = h.prober.resign(ctx, game.GetId())
	return err
}

// Ensure that no matter what fails between clients, servers and their store, and in what
// combination, no event that a client observed is lost, nothing happens twice, no watcher sees a
// gap or a repetition, all responses about a game are linearizable, and play continues once the
// fault is over. The faults and their times are drawn from a seed that the test logs.
func TestStorm(t *testing.T) {
	t.Parallel()
	seed, toClients := drawSeed(t), connectionFaults("a server", toServer, 2000)
	t.Run("redis", func(t *testing.T) {
		t.Parallel()
		redis := redistest.StartRedis(t, redistest.KeepsWrites...)
		s := &storm{t: t, env: newEnv(t, redis.Addr()), redis: redis}
		s.faults = slices.Concat(redisFaults, connectionFaults("redis", toRedis, 300), serverFaults, toClients)
		s.rage(seed, 2)
	})
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		s := &storm{t: t, env: newSQLiteEnv(t), faults: slices.Concat(fileFaults, serverFaults, toClients)}
		s.rage(seed, 1)
	})
}

// rage starts the given number of servers, and injects faults until the storm is over.
func (s *storm) rage(seed uint64, servers int) {
	s.t.Helper()
	t := s.t
	s.env.serversDie = true
	var frontEnds []*testServer
	for range servers {
		h := newStormServer(t, s.env)
		s.servers, frontEnds = append(s.servers, h), append(frontEnds, h.frontEnd())
	}
	tr := s.env.startTraffic(stormLoad, seed, frontEnds...)
	began := time.Now()
	s.env.awaitProgress(t, 100)

	rng := rand.New(rand.NewPCG(seed, 0))
	for round := 0; round == 0 || time.Since(began) < *stormFor; round++ {
		deck := slices.Clone(s.faults)
		rng.Shuffle(len(deck), func(i, j int) { deck[i], deck[j] = deck[j], deck[i] })
		for i, f := range deck {
			if round > 0 && time.Since(began) > *stormFor {
				break
			}
			at := []fault{f}
			if other := deck[(i+1)%len(deck)]; round > 0 && other.location != f.location && rng.IntN(2) == 0 {
				at = append(at, other)
			}
			s.inject(rng, at)
		}
	}
	tr.finish(t)
	if s.redis == nil {
		s.servers[0].server.stop()
	}
	tr.checkLinearizable(t)
}

// inject injects several faults at once, ends them, and waits until play continues.
func (s *storm) inject(rng *rand.Rand, at []fault) {
	s.t.Helper()
	// Faults end in this order. The store recovers first, because no server starts without
	// Redis.
	slices.SortStableFunc(at, func(a, b fault) int { return cmp.Compare(a.location, b.location) })
	var heals []func()
	var names []string
	for _, f := range at {
		h := s.servers[rng.IntN(len(s.servers))]
		heals = append(heals, f.inject(s, h, rng))
		names = append(names, f.name)
	}
	lasts := time.Duration(200+rng.IntN(1300)) * time.Millisecond
	if rng.IntN(8) == 0 {
		lasts += outageAfter
	}
	s.t.Logf("%s, for %v", strings.Join(names, " and "), lasts)
	<-time.After(lasts)
	for _, heal := range heals {
		heal()
	}
	s.awaitHealthy(rng.Uint64())
	s.env.awaitProgress(s.t, 40)
}

// awaitHealthy waits until every server works again.
func (s *storm) awaitHealthy(seed uint64) {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), patience)
	defer cancel()
	group, ctx := errgroup.WithContext(ctx)
	for n, h := range s.servers {
		rng := rand.New(rand.NewPCG(seed, uint64(n)))
		group.Go(func() error { return h.probe(ctx, rng) })
	}
	require.NoError(s.t, group.Wait(), "a server did not recover")
}
