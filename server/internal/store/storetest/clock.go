package storetest

import (
	"testing"
	"time"

	redistest "github.com/gridstand/gridstand/internal/testkit/redis"
	"github.com/gridstand/gridstand/server/internal/store"
)

// OpenClock returns an empty store that closes with the test, and a function that puts
// the store's clock forward.
type OpenClock func(t *testing.T) (s *store.Store, forward func(time.Duration))

// EachClock is Each on the engines whose clock a test can put forward.
func EachClock(t *testing.T, test func(t *testing.T, s *store.Store, forward func(time.Duration))) {
	t.Helper()
	t.Run("embedded", func(t *testing.T) {
		t.Parallel()
		s, forward := OnMiniredis(t)
		test(t, s, forward)
	})
}

// OnMiniredis is OpenClock on the imitation of Redis.
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
