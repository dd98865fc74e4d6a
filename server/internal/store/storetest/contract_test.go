package storetest_test

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/internal/testkit/longtest"
	redistest "github.com/gridstand/gridstand/internal/testkit/redis"
	"github.com/gridstand/gridstand/internal/testkit/testmain"
	"github.com/gridstand/gridstand/server/internal/store"
	"github.com/gridstand/gridstand/server/internal/store/sqlite"
	"github.com/gridstand/gridstand/server/internal/store/storetest"
)

func TestMain(m *testing.M) { testmain.Run(m) }

// suites are the tests of the contract, by interface. The subtests of each suite run one
// after another, each on an empty store.
var suites = map[string]func(t *testing.T, open storetest.Open){
	"games":       storetest.Games,
	"feed":        storetest.Feed,
	"engine":      storetest.Engine,
	"copier":      storetest.Copier,
	"lists":       storetest.Lists,
	"queue":       storetest.Queue,
	"heartbeats":  storetest.Heartbeats,
	"accounts":    storetest.Accounts,
	"keys":        storetest.Keys,
	"credentials": storetest.Credentials,
	"boards":      storetest.Boards,
	"exhibitions": storetest.Exhibitions,
	"challenges":  storetest.Challenges,
	"quotas":      storetest.Quotas,
	"secrets":     storetest.Secrets,
}

// clockSuites are the tests of the contract that depend on the clock. They run on the
// engines whose clock a test can advance.
var clockSuites = map[string]func(t *testing.T, open storetest.OpenClock){
	"games":       storetest.GamesExpire,
	"accounts":    storetest.AccountsExpire,
	"keys":        storetest.KeysExpire,
	"boards":      storetest.BoardsExpire,
	"exhibitions": storetest.ExhibitionsPause,
	"challenges":  storetest.ChallengesExpire,
	"quotas":      storetest.QuotasRefill,
	"secrets":     storetest.SecretsLast,
	"queue":       storetest.QueueTimes,
	"heartbeats":  storetest.HeartbeatTimes,
}

func TestMiniredis_Clock(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("too slow for -short")
	}
	for name, suite := range clockSuites {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			suite(t, storetest.OnMiniredis)
		})
	}
}

func TestSQLite_Clock(t *testing.T) {
	t.Parallel()
	for name, suite := range clockSuites {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			suite(t, storetest.OnSQLiteClock)
		})
	}
}

// TestSQLite uses a store at a path, or, because that is slower, an in-memory store with
// -short. TestSQLite_Clock always uses an in-memory store. All use the same engine.
func TestSQLite(t *testing.T) {
	t.Parallel()
	run(t, func(t *testing.T) storetest.Open {
		return func(t *testing.T) *store.Store {
			if testing.Short() {
				return storetest.New(t)
			}
			return storetest.OnSQLite(t, sqlite.Options{Path: filepath.Join(t.TempDir(), "store.db")})
		}
	})
}

func TestMiniredis(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("takes seconds")
	}
	run(t, func(t *testing.T) storetest.Open {
		return func(t *testing.T) *store.Store { return storetest.OnRedis(t, redistest.StartMiniredis(t).Addr()) }
	})
}

func TestRedis(t *testing.T) {
	t.Parallel()
	run(t, func(t *testing.T) storetest.Open {
		server := redistest.StartRedis(t)
		return func(t *testing.T) *store.Store {
			client := redistest.NewClient(t, server.Addr())
			require.NoError(t, client.FlushAll(t.Context()).Err())
			return storetest.OnRedis(t, server.Addr())
		}
	})
}

func TestCluster_long(t *testing.T) {
	longtest.Skip(t)
	t.Parallel()
	run(t, func(t *testing.T) storetest.Open {
		cluster := redistest.StartCluster(t, 3)
		return func(t *testing.T) *store.Store {
			for _, node := range cluster.Nodes {
				require.NoError(t, redistest.NewClient(t, node.Addr()).FlushAll(t.Context()).Err())
			}
			return storetest.OnRedis(t, cluster.Addrs()...)
		}
	})
}

// run runs all suites in parallel, each on its own engine.
func run(t *testing.T, start func(t *testing.T) storetest.Open) {
	t.Helper()
	for name, suite := range suites {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if testing.Short() && name != "games" {
				t.Skip("too slow for -short")
			}
			suite(t, start(t))
		})
	}
}
