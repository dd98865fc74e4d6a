// Package storetest is the contract of the store's ports as tests, which every engine
// passes, and gives other tests a store of each engine.
package storetest

import (
	"log/slog"
	"strings"
	"testing"

	goredis "github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	redistest "github.com/gridstand/gridstand/internal/testkit/redis"
	"github.com/gridstand/gridstand/server/internal/store"
	"github.com/gridstand/gridstand/server/internal/store/redis"
	"github.com/gridstand/gridstand/server/internal/store/sqlite"
)

// Each runs test once on an empty store of each engine, as parallel subtests. Those
// that need redis-server are skipped if it is not installed, and with -short. The
// subtests go on after Each returned, as parallel subtests do: whatever must follow
// them belongs into t.Cleanup.
func Each(t *testing.T, test func(t *testing.T, s *store.Store)) {
	t.Helper()
	redistest.Each(t, func(t *testing.T, client goredis.UniversalClient) {
		single, ok := client.(*goredis.Client)
		require.True(t, ok)
		test(t, OnRedis(t, single.Options().Addr))
	})
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		test(t, OnSQLite(t, sqlite.Options{Memory: true}))
	})
}

// OnSQLite returns a store on SQLite that closes with the test.
func OnSQLite(t testing.TB, o sqlite.Options) *store.Store {
	t.Helper()
	s, err := sqlite.Open(o)
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, s.Close()) })
	return s
}

// Open returns an empty store that closes with the test.
type Open func(t *testing.T) *store.Store

// OnRedis returns a store on the Redis at the addresses, several for a cluster, that
// closes with the test.
func OnRedis(t testing.TB, addrs ...string) *store.Store {
	t.Helper()
	connect := func(retries int) goredis.UniversalClient {
		return goredis.NewUniversalClient(&goredis.UniversalOptions{Addrs: addrs, MaxRetries: retries, ContextTimeoutEnabled: true})
	}
	s, err := redis.New(redis.Clients{
		Appends: connect(-1), Calls: connect(0), Background: connect(0), Once: connect(-1), Name: strings.Join(addrs, ","),
		Logger: slog.New(slog.DiscardHandler),
	})
	require.NoError(t, err)
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// New returns an empty store that closes with the test, for tests to which the engine
// does not matter.
func New(t testing.TB) *store.Store {
	t.Helper()
	return OnSQLite(t, sqlite.Options{Memory: true})
}
