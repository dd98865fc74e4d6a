package storetest_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	redistest "github.com/gridstand/gridstand/internal/testkit/redis"
	"github.com/gridstand/gridstand/internal/testkit/testmain"
	"github.com/gridstand/gridstand/server/internal/store"
	"github.com/gridstand/gridstand/server/internal/store/storetest"
)

func TestMain(m *testing.M) { testmain.Run(m) }

// suites are the tests of the contract, by interface. The subtests of each suite run one
// after another, each on an empty store.
var suites = map[string]func(t *testing.T, open storetest.Open){
	"games":      storetest.Games,
	"feed":       storetest.Feed,
	"calls":      storetest.CallsEnd,
	"dumper":     storetest.Dumper,
	"lists":      storetest.Lists,
	"queue":      storetest.Queue,
	"heartbeats": storetest.Heartbeats,
	"accounts":   storetest.Accounts,
	"renames":    storetest.Renames,
	"keys":       storetest.Keys,
	"sessions":   storetest.Sessions,
	"boards":     storetest.Boards,
	"challenges": storetest.Challenges,
	"secrets":    storetest.Secrets,
	"profiles":   storetest.Profiles,
}

// clockSuites are the tests of the contract that depend on the clock. They run on the
// engines whose clock a test can advance.
var clockSuites = map[string]func(t *testing.T, open storetest.OpenClock){
	"games":      storetest.GamesExpire,
	"accounts":   storetest.AccountsExpire,
	"keys":       storetest.KeysExpire,
	"sessions":   storetest.SessionsExpire,
	"boards":     storetest.BoardsExpire,
	"challenges": storetest.ChallengesExpire,
	"profiles":   storetest.ProfilesExpire,
	"queue":      storetest.QueueTimes,
	"heartbeats": storetest.HeartbeatTimes,
}

func TestClock(t *testing.T) {
	t.Parallel()
	for engine, open := range storetest.Clocks {
		for name, suite := range clockSuites {
			t.Run(name+" on "+engine, func(t *testing.T) {
				t.Parallel()
				suite(t, open)
			})
		}
	}
}

// TestSQLite uses in-memory stores, as TestClock does: the same engine without syncs.
func TestSQLite(t *testing.T) {
	t.Parallel()
	run(t, func(*testing.T) storetest.Open {
		return func(t *testing.T) *store.Store { return storetest.New(t) }
	})
}

func TestMiniredis(t *testing.T) {
	t.Parallel()
	run(t, func(*testing.T) storetest.Open {
		return func(t *testing.T) *store.Store { return storetest.OnRedis(t, redistest.StartMiniredis(t).Addr()) }
	})
}

// Ensure that an error from Redis is returned as a *store.Error, and is not mistaken for
// an empty answer.
func TestMiniredis_Failed(t *testing.T) {
	t.Parallel()
	server := redistest.StartMiniredis(t)
	s := storetest.OnRedis(t, server.Addr())
	server.SetError("LOADING")
	for name, err := range storetest.Calls(t.Context(), s) {
		var failed *store.Error
		if assert.ErrorAs(t, err, &failed, name) {
			assert.Equal(t, store.Kind("loading"), failed.Kind, name)
		}
	}
}

// run runs all suites in parallel, each on its own engine.
func run(t *testing.T, start func(t *testing.T) storetest.Open) {
	t.Helper()
	for name, suite := range suites {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			suite(t, start(t))
		})
	}
}
