//go:build slow

package fault

import (
	"context"
	"log/slog"
	"strings"
	"sync"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/internal/testkit/process"
	redistest "github.com/gridstand/gridstand/internal/testkit/redis"
	servertest "github.com/gridstand/gridstand/internal/testkit/server"
	waittest "github.com/gridstand/gridstand/internal/testkit/wait"
	"github.com/gridstand/gridstand/server/internal/store"
	redisstore "github.com/gridstand/gridstand/server/internal/store/redis"
)

const patience = waittest.Patience

// env is one store, the servers on it, and what their clients observed.
type env struct {
	t *testing.T
	// url is the store's URL, as in a server's configuration.
	url string
	// ports returns the test's own connection to the store.
	ports    func() *store.Store
	observed *observations
	// addr is the address of the Redis server, and redis is the test's own client for it. Both
	// are zero if the store is not Redis.
	addr  string
	redis redis.UniversalClient
	// wrapper is a command prefix for running the server's program, or nil.
	wrapper []string
	// serversDie is set if the test kills servers at any time. Clients then also repeat calls that
	// broke off and calls that have a deadline.
	serversDie bool

	mu      sync.Mutex
	damaged map[string]bool // games whose logs the test damaged
	players []string        // IDs of all accounts
	opened  *store.Store    // see openFile
}

// newEnv returns an env on the Redis server at addr. It checks the store after the test, once
// all its servers have ended.
func newEnv(t *testing.T, addr string) *env {
	t.Helper()
	return newEnvOn(t, addr, redistest.NewClient(t, addr))
}

// newRedisEnv is like newEnv, but on a new Redis server.
func newRedisEnv(t *testing.T) *env {
	t.Helper()
	return newEnv(t, redistest.StartRedis(t).Addr())
}

// newEnvOn is like newEnv, but uses the Redis server or cluster that the client connects to.
func newEnvOn(t *testing.T, addr string, client redis.UniversalClient) *env {
	t.Helper()
	env := openEnv(t, addr, client)
	t.Cleanup(func() { check(t, env) })
	return env
}

// newUncheckedEnv is like newRedisEnv, but does not check the store after the test.
func newUncheckedEnv(t *testing.T) *env {
	t.Helper()
	addr := redistest.StartRedis(t).Addr()
	return openEnv(t, addr, redistest.NewClient(t, addr))
}

func openEnv(t *testing.T, addr string, client redis.UniversalClient) *env {
	t.Helper()
	// All ports use a client that retries, because the test reads immediately after faults.
	ports, err := redisstore.New(redisstore.Clients{Appends: client, Calls: client, Background: client, Name: addr})
	require.NoError(t, err)
	t.Cleanup(func() { _ = ports.Close() })
	return &env{
		t: t, url: "redis://" + addr, addr: addr, redis: client, ports: func() *store.Store { return ports },
		observed: newObservations(), damaged: map[string]bool{},
	}
}

// markDamaged records that a game's log differs from what the servers know, so that the log is
// not checked.
func (env *env) markDamaged(gameID string) {
	env.mu.Lock()
	defer env.mu.Unlock()
	env.damaged[gameID] = true
}

func (env *env) isDamaged(gameID string) bool {
	env.mu.Lock()
	defer env.mu.Unlock()
	return env.damaged[gameID]
}

// testServer is a server of an env.
type testServer struct {
	addr string
	// stop ends the server and waits until it has exited: gracefully if it runs in this process,
	// otherwise with SIGKILL.
	stop func()
	// process is nil for a server in this process.
	process *process.Process
	// metrics receives a process's metrics address, once.
	metrics <-chan string
	// env and flags are those that serveProgram was called with.
	env   *env
	flags []string
}

// serve starts a server in this process.
func (env *env) serve() *testServer {
	env.t.Helper()
	config := testConfig(env.url)
	config.Logger = slog.New(failOnError{slog.NewTextHandler(env.t.Output(), &slog.HandlerOptions{Level: slog.LevelDebug}), env.t})
	running, stop := servertest.Start(env.t, config)
	return &testServer{addr: running.Addr().String(), stop: stop}
}

// failOnError is a log handler that fails the test when an error is logged, unless tests cause
// the error on purpose.
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

// expected reports whether tests cause this error on purpose.
func expected(message string) bool {
	return message == "game damaged" || message == "the database file is damaged" || strings.HasPrefix(message, "store rollback: ")
}

func (a failOnError) WithAttrs(attrs []slog.Attr) slog.Handler {
	return failOnError{a.Handler.WithAttrs(attrs), a.t}
}

func (a failOnError) WithGroup(name string) slog.Handler {
	return failOnError{a.Handler.WithGroup(name), a.t}
}
