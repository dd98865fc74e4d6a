// Package redistest gives each test its own Redis: miniredis, an in-memory imitation, and also a
// real server or cluster if redis-server is installed. Only tests import it.
package redistest

import (
	"strings"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/alicebob/miniredis/v2/server"
	"github.com/redis/go-redis/v9"
	"go.uber.org/goleak"
)

// Each runs test once on miniredis and once on a real Redis, as the parallel subtests "miniredis"
// and "redis". The second is skipped if redis-server is not on the PATH. Each store starts empty and
// belongs to its subtest alone, so keys need no prefix. Like all parallel subtests, these two continue
// after Each has returned; use t.Cleanup for anything that must follow them.
func Each(t *testing.T, test func(t *testing.T, client *redis.Client)) {
	t.Helper()
	t.Run("miniredis", func(t *testing.T) {
		t.Parallel()
		test(t, NewClient(t, StartMiniredis(t).Addr()))
	})
	t.Run("redis", func(t *testing.T) {
		t.Parallel()
		test(t, NewClient(t, StartRedis(t).Addr()))
	})
}

// StartMiniredis starts a miniredis that is stopped when the test ends. Its keys expire only
// through FastForward.
func StartMiniredis(t testing.TB) *miniredis.Miniredis {
	t.Helper()
	m := miniredis.RunT(t)
	// miniredis refuses TIME in a read-only script, which Redis allows.
	m.Server().SetPreHook(func(c *server.Peer, command string, args ...string) bool {
		name, readOnly := strings.CutSuffix(command, "_RO")
		if readOnly {
			m.Server().Dispatch(c, append([]string{name}, args...))
		}
		return readOnly
	})
	return m
}

// NewClient returns a client for the server at addr. It waits long enough for slow disks, and
// is closed when the test ends.
func NewClient(t testing.TB, addr string) *redis.Client {
	t.Helper()
	client := redis.NewClient(&redis.Options{Addr: addr, ReadTimeout: time.Minute})
	t.Cleanup(func() { _ = client.Close() })
	return client
}

// StillDialing makes goleak ignore the goroutine that go-redis leaves behind for a second if a
// client is closed while its Redis is unavailable, because the goroutine redials once per second.
var StillDialing = goleak.IgnoreAnyFunction("github.com/redis/go-redis/v9/internal/pool.(*ConnPool).tryDial")
