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

// EachClock is like Each, but runs test only on the engines whose clock a test can
// advance.
func EachClock(t *testing.T, test func(t *testing.T, s *store.Store, forward func(time.Duration))) {
	t.Helper()
	t.Run("miniredis", func(t *testing.T) {
		t.Parallel()
		s, forward := OnMiniredis(t)
		test(t, s, forward)
	})
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		s, forward := OnSQLiteClock(t)
		test(t, s, forward)
	})
}

// OnMiniredis is an OpenClock that uses miniredis.
func OnMiniredis(t *testing.T) (*store.Store, func(time.Duration)) {
	t.Helper()
	server, now := redistest.StartMiniredis(t), time.Now()
	server.SetTime(now)
	return OnRedis(t, server.Addr()), func(d time.Duration) {
		now = now.Add(d)
		server.SetTime(now)
		server.FastForward(d)
	}
}

// OnSQLiteClock is an OpenClock that uses SQLite.
func OnSQLiteClock(t *testing.T) (*store.Store, func(time.Duration)) {
	t.Helper()
	var ahead atomic.Int64
	now := time.Now()
	s := OnSQLite(t, sqlite.Options{Memory: true, Now: func() time.Time { return now.Add(time.Duration(ahead.Load())) }})
	return s, func(d time.Duration) { ahead.Add(int64(d)) }
}
