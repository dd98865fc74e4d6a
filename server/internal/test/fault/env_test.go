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
	"github.com/gridstand/gridstand/server"
	"github.com/gridstand/gridstand/server/internal/store"
	redisstore "github.com/gridstand/gridstand/server/internal/store/redis"
)

// patience bounds a wait for what happens soon unless something is wrong. It is
// long enough for busy machines.
const patience = time.Minute

// env is one store, the servers on it, and what their clients observed.
type env struct {
	t *testing.T
	// url names the store as a server's configuration does.
	url string
	// ports is the test's own connection to it.
	ports    func() *store.Store
	observed *observations
	// addr and redis are the address of a Redis and the test's own client of it. Both
	// are zero for another store.
	addr  string
	redis redis.UniversalClient
	// wrapper is a command that runs the programs of servers, nil for none.
	wrapper []string
	// serversDie says that the test kills servers: clients retry calls that no
	// server answered.
	serversDie bool

	mu      sync.Mutex
	damaged map[string]bool // games whose logs the test damaged
	players []string        // all accounts, by id
	opened  *store.Store    // see openFile
}

// newEnv returns an env on the Redis at addr. When the test and all its servers
// have ended, it checks the store.
func newEnv(t *testing.T, addr string) *env {
	t.Helper()
	return newEnvOn(t, addr, redistest.NewClient(t, addr))
}

// newEnvOn is newEnv on the Redis, or cluster, that the client reaches.
func newEnvOn(t *testing.T, addr string, client redis.UniversalClient) *env {
	t.Helper()
	env := newUncheckedEnv(t, addr, client)
	t.Cleanup(func() { check(t, env) })
	return env
}

// newUncheckedEnv is newEnvOn for a test that leaves nothing to check. It skips
// the test with -short: test/api runs whole servers without faults.
func newUncheckedEnv(t *testing.T, addr string, client redis.UniversalClient) *env {
	t.Helper()
	if testing.Short() {
		t.Skip("breaks whole servers")
	}
	// All over a client that retries: the test reads right after faults.
	ports, err := redisstore.New(redisstore.Clients{Appends: client, Calls: client, Background: client, Once: client, Name: addr})
	require.NoError(t, err)
	t.Cleanup(func() { _ = ports.Close() })
	return &env{
		t: t, url: "redis://" + addr, addr: addr, redis: client, ports: func() *store.Store { return ports },
		observed: newObservations(), damaged: map[string]bool{},
	}
}

// each runs test on every engine, as parallel subtests.
func each(t *testing.T, test func(t *testing.T, env *env)) {
	t.Helper()
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		test(t, newSQLiteEnv(t))
	})
	t.Run("redis", func(t *testing.T) {
		t.Parallel()
		test(t, newEnv(t, redistest.StartRedis(t).Addr()))
	})
}

// onRedis is each for a test that needs several servers, or something between a server
// and its store.
func onRedis(t *testing.T, test func(t *testing.T, env *env)) {
	t.Helper()
	test(t, newEnv(t, redistest.StartRedis(t).Addr()))
}

// markDamaged says that a game's log differs from what its server knows.
func (env *env) markDamaged(gameID string) {
	env.mu.Lock()
	defer env.mu.Unlock()
	env.damaged[gameID] = true
}

// unmarkDamaged undoes markDamaged.
func (env *env) unmarkDamaged(gameID string) {
	env.mu.Lock()
	defer env.mu.Unlock()
	delete(env.damaged, gameID)
}

func (env *env) isDamaged(gameID string) bool {
	env.mu.Lock()
	defer env.mu.Unlock()
	return env.damaged[gameID]
}

// testServer is a server of an env.
type testServer struct {
	addr string
	// stop ends it and waits until it has ended: a server in this process by a
	// graceful stop, a process by SIGKILL.
	stop func()
	// process is nil for a server in this process.
	process *process.Process
	// metrics receives the address of a process's metrics once.
	metrics <-chan string
}

// serve starts a server in this process.
func (env *env) serve() *testServer {
	env.t.Helper()
	return env.serveWith(func(*server.Config) {})
}

// serveVia is serve with a proxy before Redis.
func (env *env) serveVia(proxy string) *testServer {
	env.t.Helper()
	return env.serveWith(func(c *server.Config) { c.Store = "redis://" + proxy })
}

// servePair starts two servers in this process. They are the same one if the store
// does not allow two.
func (env *env) servePair() (first, second *testServer) {
	env.t.Helper()
	first = env.serve()
	if env.redis == nil {
		return first, first
	}
	return first, env.serve()
}

// serveWith starts a server in this process with a changed configuration.
func (env *env) serveWith(change func(*server.Config)) *testServer {
	env.t.Helper()
	config := testConfig(env.url)
	config.Logger = slog.New(failOnError{slog.NewTextHandler(env.t.Output(), &slog.HandlerOptions{Level: slog.LevelDebug}), env.t})
	change(&config)
	running, stop := servertest.Start(env.t, config)
	return &testServer{addr: running.Addr().String(), stop: stop}
}

// failOnError is a log handler that fails the test for errors, except for those
// that tests cause on purpose.
type failOnError struct {
	slog.Handler
	t *testing.T
}

func (a failOnError) Handle(ctx context.Context, r slog.Record) error {
	if r.Level >= slog.LevelError && !expected(r.Message) {
		a.t.Errorf("the server logged an error: %s", r.Message)
	}
	return a.Handler.Handle(ctx, r)
}

// expected reports whether tests cause an error on purpose.
func expected(message string) bool {
	return message == "game damaged" || strings.HasPrefix(message, "the store went back in time: ")
}

func (a failOnError) WithAttrs(attrs []slog.Attr) slog.Handler {
	return failOnError{a.Handler.WithAttrs(attrs), a.t}
}

func (a failOnError) WithGroup(name string) slog.Handler {
	return failOnError{a.Handler.WithGroup(name), a.t}
}
