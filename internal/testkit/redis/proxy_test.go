package redistest

import (
	"testing"
	"time"

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
	require.NoError(t, client.Set(ctx, "a", 1, 0).Err())

	lost := proxy.Lose(1, "incr")
	require.Error(t, client.Incr(ctx, "a").Err())
	<-lost
	got, err := direct.Get("a")
	require.NoError(t, err)
	assert.Equal(t, "2", got, "Redis executed the command")
	require.NoError(t, client.Incr(ctx, "a").Err())

	release := proxy.Hold()
	held := make(chan error, 1)
	go func() { held <- client.Incr(ctx, "a").Err() }()
	require.Eventually(t, func() bool {
		got, err := direct.Get("a")
		return err == nil && got == "4"
	}, waittest.Patience, time.Millisecond)
	select {
	case err := <-held:
		require.Fail(t, "the response was not held", "%v", err)
	case <-time.After(50 * time.Millisecond):
	}
	release()
	release()
	require.NoError(t, <-held)
	assert.Equal(t, "4", client.Get(ctx, "a").Val())

	proxy.Cut()
	_ = client.Ping(ctx).Err() // may fail: the client only now notices the closed connection
	require.NoError(t, client.Ping(ctx).Err())

	lost = proxy.Sever("incr")
	require.Error(t, client.Incr(ctx, "a").Err())
	<-lost
	require.Error(t, client.Ping(ctx).Err())
	got, err = direct.Get("a")
	require.NoError(t, err)
	assert.Equal(t, "5", got)
	proxy.Accept()
	require.NoError(t, client.Ping(ctx).Err())

	proxy.Refuse()
	require.Error(t, client.Ping(ctx).Err())
	require.Error(t, client.Ping(ctx).Err())
	proxy.Accept()
	assert.NoError(t, client.Ping(ctx).Err())
}
