//go:build slow

package fault

import (
	"log/slog"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"

	"github.com/gridstand/gridstand/internal/testkit/process"
	redistest "github.com/gridstand/gridstand/internal/testkit/redis"
	servertest "github.com/gridstand/gridstand/internal/testkit/server"
	waittest "github.com/gridstand/gridstand/internal/testkit/wait"
	"github.com/gridstand/gridstand/server"
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
	// dial has the options of all connections.
	dial []grpc.DialOption
	// serversDie is set if the test kills servers at any time. Clients then also repeat calls that
	// broke off and calls that have a deadline.
	serversDie bool
	// unchecked is set if the store is not checked after the test.
	unchecked bool

	damaged map[string]bool // games whose logs the test damaged

	mu      sync.Mutex
	players []string     // IDs of all accounts
	opened  *store.Store // see openFile
}

// newRedisEnv is like newEnv, but on a new Redis server.
func newRedisEnv(t *testing.T) *env {
	t.Helper()
	return newEnv(t, redistest.StartRedis(t).Addr())
}

// newUncheckedEnv is like newRedisEnv, but does not check the store after the test.
func newUncheckedEnv(t *testing.T) *env {
	t.Helper()
	env := newRedisEnv(t)
	env.unchecked = true
	return env
}

// newEnv returns an env on the Redis server at addr, or on a cluster if there are several addresses. It
// checks the store after the test, once all its servers have ended.
func newEnv(t *testing.T, addrs ...string) *env {
	t.Helper()
	addr := strings.Join(addrs, ",")
	client := redis.NewUniversalClient(&redis.UniversalOptions{Addrs: addrs, ReadTimeout: time.Minute})
	// All ports use a client that retries, because the test reads immediately after faults.
	ports, err := redisstore.New(redisstore.Clients{Appends: client, Calls: client, Background: client, Name: addr})
	require.NoError(t, err)
	t.Cleanup(func() { _ = ports.Close() })
	env := &env{
		t: t, url: "redis://" + addr, addr: addr, redis: client, ports: func() *store.Store { return ports },
		observed: newObservations(), damaged: map[string]bool{},
	}
	t.Cleanup(func() { check(t, env) })
	return env
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

// tcp returns the server's address.
func (s *testServer) tcp(t *testing.T) net.Addr {
	t.Helper()
	addr, err := net.ResolveTCPAddr("tcp", s.addr)
	require.NoError(t, err)
	return addr
}

// serve starts a server in this process, with changes to its configuration.
func (env *env) serve(changes ...func(*server.Config)) *testServer {
	env.t.Helper()
	config := testConfig(env.url)
	for _, change := range changes {
		change(&config)
	}
	config.Logger = slog.New(slog.NewJSONHandler(newServerLog(env.t), &slog.HandlerOptions{Level: slog.LevelDebug}))
	running, stop := servertest.Start(env.t, config)
	return &testServer{addr: running.Addr().String(), stop: stop}
}

// expected reports whether tests cause this error on purpose.
func expected(message string) bool {
	return message == "game damaged" || message == "the database file is damaged" || strings.HasPrefix(message, "store rollback: ")
}
