package fault

import (
	"bufio"
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/gridstand/gridstand/internal/testkit/longtest"
	redistest "github.com/gridstand/gridstand/internal/testkit/redis"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// gauges reads the metrics of a server process.
type gauges struct{ addr string }

func (s *testServer) gauges(t *testing.T) gauges {
	t.Helper()
	select {
	case addr := <-s.metrics:
		return gauges{"http://" + addr}
	case <-time.After(patience):
		require.Fail(t, "no metrics")
		return gauges{}
	}
}

func (g gauges) fetch(t *testing.T, path string) string {
	t.Helper()
	body, err := g.get(t.Context(), path)
	for errors.Is(err, io.EOF) { // The machine stalled for longer than the server waits for a request.
		body, err = g.get(t.Context(), path)
	}
	require.NoError(t, err)
	return body
}

func (g gauges) get(ctx context.Context, path string) (string, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, g.addr+path, http.NoBody)
	if err != nil {
		return "", err
	}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	response, err := client.Do(request)
	if err != nil {
		return "", err
	}
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(response.Body)
	if err == nil && response.StatusCode != http.StatusOK {
		err = errors.New(response.Status)
	}
	return string(body), err
}

// residentMemory is the gauge of a process's memory in bytes.
const residentMemory = "process_resident_memory_bytes"

// peakMemory reads the process's memory every tenth of a second until peak is called, which
// returns the maximum.
func (g gauges) peakMemory(t *testing.T) (peak func() int) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(cancel)
	result := make(chan int, 1)
	go func() {
		most := 0
		defer func() { result <- most }()
		for {
			if text, err := g.get(ctx, "/metrics"); err == nil { // Under load, a sample may fail.
				value, _ := valueOf(text, residentMemory)
				most = max(most, int(value))
			}
			select {
			case <-ctx.Done():
				return
			case <-time.After(100 * time.Millisecond):
			}
		}
	}()
	return func() int {
		now := g.read(t, residentMemory)
		cancel()
		return max(now, <-result)
	}
}

// valueOf returns the value of a gauge in the text of all metrics.
func valueOf(text, name string) (value float64, ok bool) {
	for lines := bufio.NewScanner(strings.NewReader(text)); lines.Scan(); {
		if value, ok := strings.CutPrefix(lines.Text(), name+" "); ok {
			n, err := strconv.ParseFloat(value, 64)
			return n, err == nil
		}
	}
	return 0, false
}

// read returns the value of a gauge.
func (g gauges) read(t *testing.T, name string) int {
	t.Helper()
	return int(g.exactly(t, name))
}

func (g gauges) exactly(t *testing.T, name string) float64 {
	t.Helper()
	value, ok := valueOf(g.fetch(t, "/metrics"), name)
	require.True(t, ok, "no gauge "+name)
	return value
}

// refusals returns the number of connections, streams and calls that the server has refused, by the
// limit that they exceeded.
func (g gauges) refusals(t *testing.T) map[string]int {
	t.Helper()
	all := map[string]int{}
	for lines := bufio.NewScanner(strings.NewReader(g.fetch(t, "/metrics"))); lines.Scan(); {
		labels, ok := strings.CutPrefix(lines.Text(), `gridstand_refusals_total{reason="`)
		if !ok {
			continue
		}
		reason, value, _ := strings.Cut(labels, `"} `)
		n, err := strconv.ParseFloat(value, 64)
		require.NoError(t, err)
		all[reason] = int(n)
	}
	return all
}

// since returns the refusals that are not in an earlier result of refusals.
func since(before, now map[string]int) map[string]int {
	more := map[string]int{}
	for reason, n := range now {
		if n > before[reason] {
			more[reason] = n - before[reason]
		}
	}
	return more
}

// collect makes the process run a garbage collection.
func (g gauges) collect(t *testing.T) {
	t.Helper()
	g.fetch(t, "/debug/pprof/heap?gc=1")
}

// Ensure that a server and its Redis use no more memory after many games, with watchers that
// come and go, than they did before.
func TestSoak_long(t *testing.T) {
	longtest.Skip(t)
	t.Parallel()
	redis := redistest.StartRedis(t)
	// Games expire during the test, so the store is not checked.
	env := newUncheckedEnv(t, redis.Addr(), redistest.NewClient(t, redis.Addr()))
	server := env.serveProcess("--metrics", "127.0.0.1:0", "--pprof", "--keep-finished", "1s", "--idle", "2s")
	g := server.gauges(t)
	players := make([]*caller, 16)
	for i := range players {
		players[i] = env.player(server)
	}
	measure := func() (goroutines, heap, keys int) {
		g.collect(t)
		size, err := env.redis.DBSize(t.Context()).Result()
		require.NoError(t, err)
		return g.read(t, "go_goroutines"), g.read(t, "go_memstats_heap_inuse_bytes"), int(size)
	}
	// settled repeats the measurement until no unused games remain in memory and the results are
	// within the given limits.
	settled := func(goroutines, heap, keys int) (int, int, int) {
		var a, b, c int
		assert.Eventually(t, func() bool {
			a, b, c = measure()
			return g.read(t, "gridstand_games_live") == 0 && len(env.keys(t.Context(), t, "game:*")) == 0 &&
				a <= goroutines && b <= heap && c <= keys
		}, 3*time.Minute, 500*time.Millisecond, "resources were not released: %d goroutines, %d bytes, %d keys", goroutines, heap, keys)
		return a, b, c
	}
	const many, every = 1 << 30, 10
	soak(t, players, 2)
	goroutines, heap, keys := settled(many, many, many)
	soak(t, players, every)
	busy, full, stored := measure()
	const slack = 4 << 20 // buffer pools, and memory that the runtime keeps
	// Lists, which keep recent games a little longer, may still use a key or two.
	afterGoroutines, afterHeap, afterKeys := settled(goroutines+4, heap+slack, keys+4)
	t.Logf("%d games, each with %d watchers: goroutines %d, %d right after, %d at the end; heap %d kB, %d, %d; keys %d, %d, %d",
		every*len(players), soakWatchers, goroutines, busy, afterGoroutines, heap>>10, full>>10, afterHeap>>10, keys, stored, afterKeys)
}

// soakWatchers is the number of watchers of each game in a soak test. Half of them leave early.
const soakWatchers = 6

// soak makes each player play the given number of private games.
func soak(t *testing.T, players []*caller, games int) {
	t.Helper()
	group, ctx := errgroup.WithContext(t.Context())
	for n, p := range players {
		rng := rand.New(rand.NewPCG(uint64(n), 77))
		group.Go(func() error {
			for range games {
				if err := p.soakGame(ctx, rng); err != nil {
					return err
				}
			}
			return nil
		})
	}
	require.NoError(t, group.Wait())
}

func (c *caller) soakGame(ctx context.Context, rng *rand.Rand) error {
	private := ofVariant("classic")
	private.Private = true
	game, err := c.create(ctx, private)
	if err != nil {
		return err
	}
	group, ctx := errgroup.WithContext(ctx)
	for n := range soakWatchers {
		request := &pb.WatchRequest{GameId: game.GetId(), EveryEvent: n%3 == 0}
		if n%4 == 0 {
			request.AfterVersion = fromStart()
		}
		group.Go(func() error {
			ctx, cancel := context.WithCancel(ctx)
			defer cancel()
			stream, err := c.games.Watch(ctx, request)
			for read := 0; err == nil && (n%2 == 0 || read < 5); read++ {
				_, err = stream.Recv()
			}
			if errors.Is(err, io.EOF) || unavailable(err) { // A server whose machine stalls may end streams.
				return nil
			}
			return err
		})
	}
	group.Go(func() error { return play(ctx, rng, game, 25, func(int32) {}, c) })
	return group.Wait()
}
