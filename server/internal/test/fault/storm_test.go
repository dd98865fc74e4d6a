package fault

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/gridstand/gridstand/internal/testkit/longtest"
	redistest "github.com/gridstand/gridstand/internal/testkit/redis"
)

var (
	stormFor = flag.Duration("storm", 0,
		"how long TestStorm_long lasts at least; it goes through every fault once however short that is")
	stormSeed = flag.Uint64("storm.seed", 0, "seed of TestStorm_long's schedule, as an earlier run printed it; 0 for a new one")
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
	tried map[string][]time.Duration // by fault, how long play took to go on
}

// host is one server: the link on which clients find it, and its way to Redis.
type host struct {
	w           *world
	front, back *link
	server      *testServer
	// tester is who tries whether the server does what it is for.
	tester *caller
}

func newHost(t *testing.T, w *world) *host {
	t.Helper()
	h := &host{w: w, back: newLink(t, w.addr)}
	h.server = w.serveProcess(h.back.addr, "--listen", freeAddress(t))
	h.front = newLink(t, h.server.addr)
	h.tester = w.player(h.entrance())
	return h
}

// entrance is the server as clients find it.
func (h *host) entrance() *testServer { return &testServer{addr: h.front.addr} }

// restart starts the server again at its address.
func (h *host) restart() {
	h.server.stop()
	h.server = h.w.serveProcess(h.back.addr, "--listen", h.server.addr)
}

// serves waits until the server has taken a new game, a move and its end.
func (h *host) serves(ctx context.Context, rng *rand.Rand) error {
	game, err := h.tester.create(ctx, ofVariant("classic"))
	if err != nil {
		return err
	}
	if _, err = h.tester.move(ctx, game.GetId(), game.GetVersion(), random(rng, game.GetPosition())); err != nil {
		return err
	}
	_, err = h.tester.resign(ctx, game.GetId())
	return err
}

// Ensure that whatever breaks between people, servers and Redis, and however it
// comes together, nothing that anybody was told is lost, nothing happens twice,
// nobody who watches is shown a gap or a repeat, all answers about a game can be
// told in one order in which the rules give them, and play goes on when it is
// over. What breaks, and when, is drawn from a seed that the test prints.
func TestStorm_long(t *testing.T) {
	longtest.Skip(t)
	t.Parallel()
	s := &storm{t: t, tried: map[string][]time.Duration{}}
	began := time.Now()
	var crowd *crowd
	t.Cleanup(func() { // After all was checked.
		if crowd != nil && !t.Failed() {
			t.Logf("%v\n%s%s", time.Since(began).Round(time.Second), s.table(), crowd.sum())
		}
	})
	s.redis = redistest.StartRedis(t, "--appendonly", "yes", "--appendfsync", "always")
	s.w = newWorld(t, s.redis.Addr())
	s.w.rough = true
	s.hosts = []*host{newHost(t, s.w), newHost(t, s.w)}
	seed := *stormSeed
	if seed == 0 {
		seed = rand.Uint64()
	}
	t.Logf("rerun with TEST_LONG=1, -run 'TestStorm_long$' -storm=%v -storm.seed=%d", *stormFor, seed)
	crowd = s.crowd(seed)
	began = time.Now()
	s.w.progress(t, 100)

	rng := rand.New(rand.NewPCG(seed, 0))
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
			s.strike(rng, at)
		}
	}
	crowd.goHome(t)
	crowd.judge(t)
}

// strike causes faults together, ends them, and waits until play goes on.
func (s *storm) strike(rng *rand.Rand, at []fault) {
	s.t.Helper()
	// In the order in which they are healed: no server starts without Redis.
	slices.SortStableFunc(at, func(a, b fault) int { return cmp.Compare(a.where, b.where) })
	var heals []func()
	var names []string
	for _, f := range at {
		h := s.hosts[rng.IntN(len(s.hosts))]
		heals = append(heals, f.cause(s, h, rng))
		names = append(names, f.name)
	}
	lasts := time.Duration(200+rng.IntN(1300)) * time.Millisecond
	if rng.IntN(8) == 0 {
		lasts += outageAfter
	}
	s.t.Logf("%s, for %v", strings.Join(names, " and "), lasts)
	before := s.w.told.versions()
	<-time.After(lasts)
	meanwhile := s.w.told.versions() - before
	ended := time.Now()
	for _, heal := range heals {
		heal()
	}
	s.goesOn(rng.Uint64())
	took := time.Since(ended)
	s.w.progress(s.t, 40)
	s.t.Logf("goes on after %v; people were told of %d versions meanwhile", took.Round(time.Millisecond), meanwhile)
	for _, f := range at {
		s.tried[f.name] = append(s.tried[f.name], took)
	}
}

// goesOn waits until every server does what it is for.
func (s *storm) goesOn(seed uint64) {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), patience)
	defer cancel()
	group, ctx := errgroup.WithContext(ctx)
	for n, h := range s.hosts {
		rng := rand.New(rand.NewPCG(seed, uint64(n)))
		group.Go(func() error { return h.serves(ctx, rng) })
	}
	require.NoError(s.t, group.Wait(), "a server does not go on")
}

// table is what was tried, how often, alone or with another, and how long it
// took from the beginning of its end, such as the start of what had been killed,
// until play went on.
func (s *storm) table() string {
	var table strings.Builder
	fmt.Fprintf(&table, "%-45s %5s %10s %10s\n", "fault", "tries", "median", "longest")
	for _, f := range faults {
		took := slices.Sorted(slices.Values(s.tried[f.name]))
		if len(took) == 0 {
			continue
		}
		fmt.Fprintf(&table, "%-45s %5d %10v %10v\n", f.name, len(took),
			took[len(took)/2].Round(time.Millisecond), took[len(took)-1].Round(time.Millisecond))
	}
	return table.String()
}
