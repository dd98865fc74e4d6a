package redistest

import (
	"context"
	"strconv"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/internal/testkit/longtest"
	"github.com/gridstand/gridstand/internal/testkit/testmain"
)

func TestMain(m *testing.M) { testmain.Run(m, StillDialing) }

// Ensure that each subtest has its own store, which starts empty.
func TestEach(t *testing.T) {
	t.Parallel()
	for range 2 {
		Each(t, func(t *testing.T, client redis.UniversalClient) {
			n, err := client.Incr(t.Context(), "counter").Result()
			require.NoError(t, err)
			assert.EqualValues(t, 1, n)
		})
	}
}

// Ensure that acknowledged writes survive a kill if the server has an append-only file, and that
// the server restarts on the same address.
func TestServer_Restart(t *testing.T) {
	t.Parallel()
	server := StartRedis(t, KeepsWrites...)
	addr := server.Addr()
	client := NewClient(t, addr)
	require.NoError(t, client.Set(t.Context(), "kept", "yes", 0).Err())

	server.Kill()
	server.Kill()
	require.Error(t, client.Ping(t.Context()).Err())
	server.Restart()

	assert.Equal(t, addr, server.Addr())
	assert.Equal(t, "yes", client.Get(t.Context(), "kept").Val())
}

// Ensure that a paused server does not answer until it is resumed.
func TestServer_Pause(t *testing.T) {
	t.Parallel()
	server := StartRedis(t)
	options, err := redis.ParseURL(server.URL())
	require.NoError(t, err)
	options.ContextTimeoutEnabled = true
	client := redis.NewClient(options)
	t.Cleanup(func() { assert.NoError(t, client.Close()) })
	require.NoError(t, client.Ping(t.Context()).Err())

	server.Pause()
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	require.ErrorIs(t, client.Ping(ctx).Err(), context.DeadlineExceeded)
	server.Resume()
	assert.NoError(t, client.Ping(t.Context()).Err())
}

// Ensure that start returns an error if another server already listens on the port.
func TestServer_PortTaken(t *testing.T) {
	t.Parallel()
	first := StartRedis(t)
	second := &Server{t: t, port: first.port, args: first.args}
	require.Error(t, second.start())
	assert.Nil(t, second.run)
}

// Ensure that the cluster refuses scripts whose keys lie in two slots.
func TestStartCluster_long(t *testing.T) {
	longtest.Skip(t)
	t.Parallel()
	client := StartCluster(t, 1).Client()
	ctx := t.Context()
	require.NoError(t, client.Set(ctx, "a", 1, 0).Err())
	require.NoError(t, client.Set(ctx, "b", 1, 0).Err())
	script := redis.NewScript(`return redis.call('EXISTS', KEYS[1], KEYS[2])`)
	assert.ErrorContains(t, script.Run(ctx, client, []string{"a", "b"}).Err(), "CROSSSLOT")
}

// Ensure that a cluster of several nodes is complete again and has all its data after a node is
// killed and restarted.
func TestStartCluster_Restart_long(t *testing.T) {
	longtest.Skip(t)
	t.Parallel()
	cluster := StartCluster(t, 3, KeepsWrites...)
	client, ctx := cluster.Client(), t.Context()
	for i := range 100 {
		require.NoError(t, client.Set(ctx, strconv.Itoa(i), i, 0).Err())
	}
	cluster.Nodes[1].Restart()
	cluster.Await()
	for i := range 100 {
		require.NoError(t, client.Get(ctx, strconv.Itoa(i)).Err(), i)
	}
}

// Ensure that a Redis server with a full disk exits instead of acknowledging a write that it cannot
// store, and that it has every acknowledged write after a restart with enough space.
func TestServer_FillDisk(t *testing.T) {
	t.Parallel()
	server := StartRedis(t, "--appendonly", "yes", "--appendfsync", "always")
	client, ctx := NewClient(t, server.Addr()), t.Context()
	require.NoError(t, client.Ping(ctx).Err())
	if !server.FillDisk(1000) {
		t.Skip("prlimit is not installed")
	}
	kept := 0
	for client.Set(ctx, strconv.Itoa(kept), "some value", 0).Err() == nil {
		kept++
		require.Less(t, kept, 1000)
	}
	<-server.Exited()
	server.Restart()
	for i := range kept {
		require.NoError(t, client.Get(ctx, strconv.Itoa(i)).Err(), "%d of %d", i, kept)
	}
	require.NoError(t, client.Set(ctx, "more", "", 0).Err())
}
