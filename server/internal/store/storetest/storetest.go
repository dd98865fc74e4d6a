// Package storetest tests the contract of the store's interfaces, which every engine must
// fulfill. It also provides stores of each engine to other tests.
package storetest

import (
	"log/slog"
	"strings"
	"testing"
	"time"

	goredis "github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	redistest "github.com/gridstand/gridstand/internal/testkit/redis"
	waittest "github.com/gridstand/gridstand/internal/testkit/wait"
	"github.com/gridstand/gridstand/server/internal/store"
	"github.com/gridstand/gridstand/server/internal/store/redis"
	"github.com/gridstand/gridstand/server/internal/store/sqlite"
)

// Models is how many random sequences of calls are compared with a model, each with a seed of its own.
var Models = 1

// Each runs test once on an empty store of each engine, as parallel subtests. Subtests
// that need redis-server are skipped if it is not installed. The subtests are parallel, so
// they continue after Each has returned. Anything that must happen after them belongs in
// t.Cleanup.
func Each(t *testing.T, test func(t *testing.T, s *store.Store)) {
	t.Helper()
	redistest.Each(t, func(t *testing.T, client *goredis.Client) {
		test(t, OnRedis(t, client.Options().Addr))
	})
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		test(t, OnSQLite(t, sqlite.Options{Memory: true}))
	})
}

// OnSQLite returns a store backed by SQLite. The store is closed after the test.
func OnSQLite(t testing.TB, o sqlite.Options) *store.Store {
	t.Helper()
	s, err := sqlite.Open(o)
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, s.Close()) })
	return s
}

// Open returns an empty store that is closed after the test.
type Open func(t *testing.T) *store.Store

// OnRedis returns a store backed by the Redis server at the given address, or by a cluster
// if there are several addresses. The store is closed after the test.
func OnRedis(t testing.TB, addrs ...string) *store.Store {
	t.Helper()
	return OnRedisWithin(t, waittest.Patience, addrs...)
}

// OnRedisWithin is like OnRedis, but a command fails if Redis takes longer than timeout to
// answer.
func OnRedisWithin(t testing.TB, timeout time.Duration, addrs ...string) *store.Store {
	t.Helper()
	connect := func(retries int) goredis.UniversalClient {
		return goredis.NewUniversalClient(&goredis.UniversalOptions{
			Addrs: addrs, MaxRetries: retries, ContextTimeoutEnabled: true,
			ReadTimeout: timeout, WriteTimeout: timeout, DialTimeout: timeout,
		})
	}
	s, err := redis.New(redis.Clients{
		Appends: connect(-1), Calls: connect(0), Background: connect(0), Name: strings.Join(addrs, ","),
		Logger: slog.New(slog.DiscardHandler),
	})
	require.NoError(t, err)
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// New returns an empty store that is closed after the test, for tests that do not depend
// on the engine.
func New(t testing.TB) *store.Store {
	t.Helper()
	return OnSQLite(t, sqlite.Options{Memory: true})
}
