package storetest

import (
	"sync/atomic"
	"testing"
	"time"

	redistest "github.com/gridstand/gridstand/internal/testkit/redis"
	"github.com/gridstand/gridstand/server/internal/store"
	"github.com/gridstand/gridstand/server/internal/store/sqlite"
)

// OpenClock returns an empty store that is closed after the test, and a function that
// advances the store's clock, which stands still otherwise.
type OpenClock func(t *testing.T) (s *store.Store, forward func(time.Duration))

// Clocks opens stores of the engines whose clock a test can advance.
var Clocks = map[string]OpenClock{"miniredis": onMiniredis, "sqlite": onSQLiteClock}

// EachClock is like Each, but runs test only on the engines whose clock a test can
// advance.
func EachClock(t *testing.T, test func(t *testing.T, s *store.Store, forward func(time.Duration))) {
	t.Helper()
	for name, open := range Clocks {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, forward := open(t)
			test(t, s, forward)
		})
	}
}

func onMiniredis(t *testing.T) (*store.Store, func(time.Duration)) {
	t.Helper()
	server, now := redistest.StartMiniredis(t), time.Now()
	server.SetTime(now)
	return OnRedis(t, server.Addr()), func(d time.Duration) {
		now = now.Add(d)
		server.SetTime(now)
		server.FastForward(d)
	}
}

func onSQLiteClock(t *testing.T) (*store.Store, func(time.Duration)) {
	t.Helper()
	var ahead atomic.Int64
	now := time.Now()
	s := OnSQLite(t, sqlite.Options{Memory: true, Now: func() time.Time { return now.Add(time.Duration(ahead.Load())) }})
	return s, func(d time.Duration) { ahead.Add(int64(d)) }
}
