package redistest

import (
	"context"
	"strconv"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/internal/testkit/testmain"
)

func TestMain(m *testing.M) { testmain.Run(m, StillDialing) }

// Ensure that each subtest has a store of its own that begins empty.
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

// Ensure that what was acknowledged with an append-only file survives a kill,
// on the same address.
func TestServer_Restart(t *testing.T) {
	t.Parallel()
	server := StartRedis(t, "--appendonly", "yes", "--appendfsync", "always")
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

// Ensure that a paused server keeps a caller waiting and answers once it goes
// on.
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

// Ensure that a server that finds its port taken says so, instead of passing
// off the other one that answers there as itself.
func TestServer_PortTaken(t *testing.T) {
	t.Parallel()
	first := StartRedis(t)
	second := &Server{t: t, port: first.port, args: first.args}
	require.Error(t, second.start())
	assert.Nil(t, second.run)
}

// Ensure that the cluster refuses what touches two slots.
func TestStartCluster(t *testing.T) {
	t.Parallel()
	client := StartCluster(t, 1).Client()
	ctx := t.Context()
	require.NoError(t, client.Set(ctx, "a", 1, 0).Err())
	require.NoError(t, client.Set(ctx, "b", 1, 0).Err())
	script := redis.NewScript(`return redis.call('EXISTS', KEYS[1], KEYS[2])`)
	assert.ErrorContains(t, script.Run(ctx, client, []string{"a", "b"}).Err(), "CROSSSLOT")
}

// Ensure that a cluster of several nodes comes back whole, with what it held,
// when one of them was killed.
func TestStartCluster_Restart(t *testing.T) {
	t.Parallel()
	cluster := StartCluster(t, 3, "--appendonly", "yes", "--appendfsync", "always")
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

// Ensure that a Redis with a full disk exits rather than acknowledge what it
// cannot store, and has everything that it acknowledged once there is room
// again.
func TestServer_FillDisk(t *testing.T) {
	t.Parallel()
	server := StartRedis(t, "--appendonly", "yes", "--appendfsync", "always")
	client, ctx := NewClient(t, server.Addr()), t.Context()
	require.NoError(t, client.Ping(ctx).Err())
	if !server.FillDisk(1000) {
		t.Skip("there is no prlimit")
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
