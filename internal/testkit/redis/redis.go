// Package redistest gives tests a Redis of their own: the imitation miniredis
// always, and a real server or a cluster where redis-server is installed. Only
// tests import it.
package redistest

import (
	"strings"
	"testing"

	"github.com/alicebob/miniredis/v2"
	"github.com/alicebob/miniredis/v2/server"
	"github.com/redis/go-redis/v9"
)

// Each runs test once on miniredis and once on a real Redis, as the
// parallel subtests "miniredis" and "redis"; the second is skipped if
// redis-server is not on the PATH, and with -short. Both start empty and belong to that subtest
// alone, so keys need no prefix. The subtests go on after Each returned, as
// parallel subtests do: whatever must follow them belongs into t.Cleanup.
func Each(t *testing.T, test func(t *testing.T, client redis.UniversalClient)) {
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

// StartMiniredis starts a miniredis that ends with the test. Its keys
// expire only through FastForward.
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

// NewClient returns a client for the server at addr that closes with the test.
func NewClient(t testing.TB, addr string) redis.UniversalClient {
	t.Helper()
	client := redis.NewClient(&redis.Options{Addr: addr})
	t.Cleanup(func() { _ = client.Close() })
	return client
}
