package faulttest

import (
	"cmp"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/server/redistest"
)

var (
	stormFor = flag.Duration("storm", 0,
		"how long TestStorm lasts at least; it goes through every fault once however short that is")
	stormSeed = flag.Uint64("storm.seed", 0, "seed of TestStorm's schedule, as an earlier run printed it; 0 for a new one")
)

// outageAfter is after what silence of all servers clocks are given time back.
const outageAfter = 3 * time.Second

// storm is people who play and watch through two servers, processes of the
// server's program, whose ways to Redis and to the clients can be made bad.
type storm struct {
	t     *testing.T
	w     *world
	redis *redistest.Server
	hosts []*host
}

// host is one server: the link on which clients find it, and its way to Redis.
type host struct {
	w           *world
	front, back *link
	server      *server
}

func newHost(t *testing.T, w *world) *host {
	t.Helper()
	h := &host{w: w, back: newLink(t, w.addr)}
	h.server = w.serveProcess(h.back.addr)
	h.front = newLink(t, h.server.addr)
	return h
}

// restart starts the server again at its address.
func (h *host) restart() {
	h.server.stop()
	h.server = h.w.serveProcess(h.back.addr, "--listen", h.server.addr)
}

// Ensure that whatever breaks between people, servers and Redis, and however it
// comes together, nothing that anybody was told is lost, nothing happens twice,
// nobody who watches is shown a gap or a repeat, and play goes on when it is
// over. What breaks, and when, is drawn from a seed that the test prints.
func TestStorm(t *testing.T) {
	t.Parallel()
	redis := redistest.StartRedis(t, "--appendonly", "yes", "--appendfsync", "always")
	w := newWorld(t, redis.Addr())
	w.rough = true
	s := &storm{t: t, w: w, redis: redis, hosts: []*host{newHost(t, w), newHost(t, w)}}
	seed := *stormSeed
	if seed == 0 {
		seed = rand.Uint64()
	}
	t.Logf("rerun with -run 'TestStorm$' -storm=%v -storm.seed=%d", *stormFor, seed)
	crowd := s.crowd(seed)
	began := time.Now()
	w.progress(t, 100)

	rng := rand.New(rand.NewPCG(seed, 0))
	tried := map[string]int{}
	for round := 0; round == 0 || time.Since(began) < *stormFor; round++ {
		deck := slices.Clone(faults)
		rng.Shuffle(len(deck), func(i, j int) { deck[i], deck[j] = deck[j], deck[i] })
		for i, f := range deck {
			if round > 0 && time.Since(began) > *stormFor {
				break
			}
			at := []fault{f}
			if other := deck[(i+1)%len(deck)]; round > 0 && other.where != f.where && rng.IntN(2) == 0 {
				at = append(at, other)
			}
			s.strike(rng, at, tried)
		}
	}
	crowd.goHome(t)

	var table strings.Builder
	for _, f := range faults {
		fmt.Fprintf(&table, "%-45s %d\n", f.name, tried[f.name])
	}
	t.Logf("faults and how often they were tried in %v:\n%s%s", time.Since(began).Round(time.Second), table.String(), crowd.sum())
}

// strike causes faults together, ends them, and waits until play goes on.
func (s *storm) strike(rng *rand.Rand, at []fault, tried map[string]int) {
	s.t.Helper()
	// In the order in which they are healed: no server starts without Redis.
	slices.SortStableFunc(at, func(a, b fault) int { return cmp.Compare(a.where, b.where) })
	var heals []func()
	var names []string
	for _, f := range at {
		h := s.hosts[rng.IntN(len(s.hosts))]
		heals = append(heals, f.cause(s, h, rng))
		names = append(names, f.name)
		tried[f.name]++
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
	s.w.progress(s.t, 40)
}

// where a fault happens; two of one place do not go together.
type where int

const (
	inRedis  where = iota
	toRedis        // between a server and Redis
	inServer       // in a server's process
	toServer       // between a server and its clients
)

type fault struct {
	name  string
	where where
	// cause begins it, at the given host if it is about one, with all that is
	// drawn drawn at once. The function returned ends it.
	cause func(s *storm, h *host, rng *rand.Rand) (heal func())
}

// faults are all that are tried.
var faults = []fault{
	{"redis is killed (appendfsync always)", inRedis, func(s *storm, _ *host, _ *rand.Rand) func() {
		s.redis.Kill()
		return s.redis.Restart
	}},
	{"redis stands still (SIGSTOP)", inRedis, func(s *storm, _ *host, _ *rand.Rand) func() {
		s.redis.Pause()
		return s.redis.Resume
	}},
	{"redis is out of memory", inRedis, setting("maxmemory", "1", "0")},
	{"redis takes no writes (min-replicas)", inRedis, setting("min-replicas-to-write", "1", "0")},
	{"redis is a replica, read-only", inRedis, func(s *storm, _ *host, _ *rand.Rand) func() {
		require.NoError(s.t, s.w.store.Do(s.t.Context(), "REPLICAOF", "127.0.0.1", "1").Err())
		return func() { require.NoError(s.t, s.w.store.Do(s.t.Context(), "REPLICAOF", "NO", "ONE").Err()) }
	}},
	{"the disk under redis is full", inRedis, func(s *storm, _ *host, rng *rand.Rand) func() {
		room := rng.Int64N(20_000)
		if !s.redis.FillDisk(room) {
			s.t.Log("there is no prlimit")
			return func() {}
		}
		return func() {
			select {
			case <-s.redis.Exited():
			case <-time.After(patience):
				assert.Fail(s.t, "redis found room on a full disk")
			}
			s.redis.Restart()
		}
	}},
	{"redis forgets its scripts", inRedis, func(s *storm, _ *host, _ *rand.Rand) func() {
		require.NoError(s.t, s.w.store.ScriptFlush(s.t.Context()).Err())
		return func() {}
	}},
	{"redis is slow (latency and jitter)", toRedis, func(_ *storm, h *host, rng *rand.Rand) func() {
		slow := map[string]int{"latency": rng.IntN(200), "jitter": rng.IntN(100)}
		return both(h.back.poison(there, "latency", slow), h.back.poison(back, "latency", slow))
	}},
	{"redis answers in crumbs", toRedis, func(_ *storm, h *host, rng *rand.Rand) func() {
		return h.back.poison(back, "slicer", map[string]int{"average_size": 1 + rng.IntN(10), "delay": 100})
	}},
	{"redis gives half an answer", toRedis, func(_ *storm, h *host, rng *rand.Rand) func() {
		return h.back.poison(back, "limit_data", map[string]int{"bytes": 1 + rng.IntN(300)})
	}},
	{"half a command reaches redis", toRedis, func(_ *storm, h *host, rng *rand.Rand) func() {
		return h.back.poison(there, "limit_data", map[string]int{"bytes": 1 + rng.IntN(300)})
	}},
	{"the way to redis is cut", toRedis, func(_ *storm, h *host, _ *rand.Rand) func() { return h.back.cut() }},
	{"the way to redis is reset", toRedis, func(_ *storm, h *host, _ *rand.Rand) func() {
		return h.back.poison(back, "reset_peer", nil)
	}},
	{"commands to redis vanish (half open)", toRedis, func(_ *storm, h *host, _ *rand.Rand) func() {
		return h.back.poison(there, "timeout", nil)
	}},
	{"answers of redis vanish (half open)", toRedis, func(_ *storm, h *host, _ *rand.Rand) func() {
		return h.back.poison(back, "timeout", nil)
	}},
	{"a server is killed", inServer, func(_ *storm, h *host, _ *rand.Rand) func() {
		h.server.stop()
		return h.restart
	}},
	{"a server stands still (SIGSTOP)", inServer, func(s *storm, h *host, _ *rand.Rand) func() {
		require.NoError(s.t, h.server.process.Pause())
		return func() { require.NoError(s.t, h.server.process.Resume()) }
	}},
	{"a server is far away (latency and jitter)", toServer, func(_ *storm, h *host, rng *rand.Rand) func() {
		slow := map[string]int{"latency": rng.IntN(300), "jitter": rng.IntN(100)}
		return both(h.front.poison(there, "latency", slow), h.front.poison(back, "latency", slow))
	}},
	{"the way to a server is cut", toServer, func(_ *storm, h *host, _ *rand.Rand) func() { return h.front.cut() }},
	{"the way to a server is reset", toServer, func(_ *storm, h *host, _ *rand.Rand) func() {
		return h.front.poison(back, "reset_peer", nil)
	}},
	{"half a message reaches a client", toServer, func(_ *storm, h *host, rng *rand.Rand) func() {
		return h.front.poison(back, "limit_data", map[string]int{"bytes": 1 + rng.IntN(2000)})
	}},
	{"calls to a server vanish (half open)", toServer, func(_ *storm, h *host, _ *rand.Rand) func() {
		return h.front.poison(there, "timeout", nil)
	}},
	{"answers of a server vanish (half open)", toServer, func(_ *storm, h *host, _ *rand.Rand) func() {
		return h.front.poison(back, "timeout", nil)
	}},
}

// setting changes one of Redis's settings.
func setting(name, to, from string) func(*storm, *host, *rand.Rand) func() {
	return func(s *storm, _ *host, _ *rand.Rand) func() {
		require.NoError(s.t, s.w.store.ConfigSet(s.t.Context(), name, to).Err())
		return func() { require.NoError(s.t, s.w.store.ConfigSet(s.t.Context(), name, from).Err()) }
	}
}

func both(one, other func()) func() {
	return func() {
		one()
		other()
	}
}
