package redistest

import (
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	waittest "github.com/gridstand/gridstand/internal/testkit/wait"
)

// Ensure that each of the proxy's faults happens as documented and then ends.
func TestProxy(t *testing.T) {
	t.Parallel()
	direct := StartMiniredis(t)
	proxy := StartProxy(t, direct.Addr())
	client := redis.NewClient(&redis.Options{Addr: proxy.Addr(), MaxRetries: -1, ReadTimeout: waittest.Patience})
	t.Cleanup(func() { assert.NoError(t, client.Close()) })
	ctx := t.Context()
	holds := func(want string) bool {
		got, err := direct.Get("a")
		return err == nil && got == want
	}
	require.NoError(t, client.Set(ctx, "a", 1, 0).Err())

	lost := proxy.Lose(1, "incr")
	require.Error(t, client.Incr(ctx, "a").Err())
	<-lost
	assert.True(t, holds("2"), "Redis executed the command")
	require.NoError(t, client.Incr(ctx, "a").Err())

	release := proxy.Hold()
	held := make(chan error, 1)
	go func() { held <- client.Incr(ctx, "a").Err() }()
	waittest.Until(t, "Redis has executed the command", func() bool { return holds("4") })
	assert.Empty(t, held)
	release()
	release()
	require.NoError(t, waittest.Receive(t, "the reply", held))

	proxy.Cut()
	_ = client.Ping(ctx).Err() // may fail: the client only now notices the closed connection
	require.NoError(t, client.Ping(ctx).Err())

	lost = proxy.Sever("incr")
	require.Error(t, client.Incr(ctx, "a").Err())
	<-lost
	require.Error(t, client.Ping(ctx).Err())
	assert.True(t, holds("5"))
	proxy.Accept()
	assert.NoError(t, client.Ping(ctx).Err())
}
