package fault

import (
	"context"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/internal/testkit/process"
	redistest "github.com/gridstand/gridstand/internal/testkit/redis"
	servertest "github.com/gridstand/gridstand/internal/testkit/server"
)

// patience is for what happens soon unless something is wrong. It is long, for
// machines that are busy; nothing waits for it where all is well.
const patience = time.Minute

// world is one Redis, the servers on it, and what their clients were told.
type world struct {
	t     *testing.T
	addr  string                // of Redis, several with commas for a cluster
	store redis.UniversalClient // the test's own way there
	told  *ledger
	// rough says that servers are killed: what is unavailable is asked again.
	rough bool

	mu      sync.Mutex
	spoiled map[string]bool // games whose logs the test damaged
}

// newWorld makes a world on the Redis at addr, which is checked when the test
// and all servers have ended.
func newWorld(t *testing.T, addr string) *world {
	t.Helper()
	return newWorldOn(t, addr, redistest.NewClient(t, addr))
}

// newWorldOn is newWorld on whatever store the client reaches.
func newWorldOn(t *testing.T, addr string, store redis.UniversalClient) *world {
	t.Helper()
	w := newUnchecked(t, addr, store)
	t.Cleanup(func() { check(t, w) })
	return w
}

// newUnchecked is newWorldOn for a test after which there is nothing to check.
// Without faults, apitest goes through the same servers: with -short that is
// enough.
func newUnchecked(t *testing.T, addr string, store redis.UniversalClient) *world {
	t.Helper()
	if testing.Short() {
		t.Skip("breaks whole servers")
	}
	return &world{t: t, addr: addr, store: store, told: newLedger(), spoiled: map[string]bool{}}
}

// each runs test in a world on the embedded Redis and in one on a real one.
func each(t *testing.T, test func(t *testing.T, w *world)) {
	t.Helper()
	redistest.Each(t, func(t *testing.T, client redis.UniversalClient) {
		single, ok := client.(*redis.Client)
		require.True(t, ok)
		test(t, newWorld(t, single.Options().Addr))
	})
}

// spoil says that the log of a game will not be what its server knows.
func (w *world) spoil(gameID string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.spoiled[gameID] = true
}

// unspoil says that it is again.
func (w *world) unspoil(gameID string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.spoiled, gameID)
}

func (w *world) isSpoiled(gameID string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.spoiled[gameID]
}

// server is a server of a world.
type testServer struct {
	addr string
	// stop ends it: in order where it runs in this process, and by SIGKILL
	// where it has one of its own. It returns when it has ended.
	stop func()
	// process is that of its own; nil where it has none.
	process *process.Process
	// metrics brings the address of a process's metrics, once.
	metrics <-chan string
}

// serve starts a server in this process. It reaches Redis at the given address,
// which may be that of a proxy.
func (w *world) serve(redis string) *testServer {
	w.t.Helper()
	config := quick(redis)
	config.Logger = slog.New(alarm{slog.NewTextHandler(w.t.Output(), &slog.HandlerOptions{Level: slog.LevelDebug}), w.t})
	running, stop := servertest.Start(w.t, config)
	return &testServer{addr: running.Addr().String(), stop: stop}
}

// alarm fails the test for errors in a server's log, but for games that tests
// damage, and a Redis that they take back in time.
type alarm struct {
	slog.Handler
	t *testing.T
}

func (a alarm) Handle(ctx context.Context, r slog.Record) error {
	if r.Level >= slog.LevelError && !expected(r.Message) {
		a.t.Errorf("the server logged an error: %s", r.Message)
	}
	return a.Handler.Handle(ctx, r)
}

// expected reports whether tests do what an error tells of.
func expected(message string) bool {
	return message == "game damaged" || strings.HasPrefix(message, "redis went back in time: ")
}

func (a alarm) WithAttrs(attrs []slog.Attr) slog.Handler {
	return alarm{a.Handler.WithAttrs(attrs), a.t}
}

func (a alarm) WithGroup(name string) slog.Handler { return alarm{a.Handler.WithGroup(name), a.t} }
