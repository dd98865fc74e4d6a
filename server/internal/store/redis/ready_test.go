package redis

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	redistest "github.com/gridstand/gridstand/internal/testkit/redis"
	"github.com/gridstand/gridstand/server/internal/store"
)

// Ensure that a Redis server that answers but rejects appends refuses heartbeats, too, until it accepts them
// again: readiness checks send one.
func TestHeartbeats_Refused(t *testing.T) {
	t.Parallel()
	server := redistest.StartRedis(t)
	client := redistest.NewClient(t, server.Addr())
	heartbeats := openAt(t, server.Addr()).Background.Heartbeats
	ctx := t.Context()
	send := func() error {
		_, err := heartbeats.Record(ctx, store.Heartbeat{ServerID: "a"})
		return err
	}
	config := func(setting string) func(value string) error {
		return func(value string) error { return client.ConfigSet(ctx, setting, value).Err() }
	}
	for _, tt := range []struct {
		set                  func(value string) error
		refuses, takes, says string
	}{
		{config("maxmemory"), "1", "0", "OOM"},
		{config("min-replicas-to-write"), "1", "0", "NOREPLICAS"},
		{func(of string) error {
			host, port, _ := strings.Cut(of, " ")
			return client.ReplicaOf(ctx, host, port).Err()
		}, "127.0.0.1 1", "no one", "READONLY"},
	} {
		require.NoError(t, tt.set(tt.refuses))
		assert.ErrorContains(t, send(), tt.says)
		require.NoError(t, tt.set(tt.takes))
		assert.NoError(t, send(), tt.says)
	}
}

// Ensure that Redis treats the read-only scripts as read-only: they run even while writes
// are paused, for example before a failover.
func TestReadOnlyScripts(t *testing.T) {
	t.Parallel()
	r := newRig(t, redistest.NewClient(t, redistest.StartRedis(t).Addr()))
	last := r.create(name("a"), 1)
	ctx := t.Context()
	require.NoError(t, r.client.ScriptFlush(ctx).Err())
	require.NoError(t, r.client.Do(ctx, "client", "pause", 60_000, "write").Err())
	for range 2 { // by source, then by hash
		tail, err := r.store.Games.Tail(ctx, name("a"))
		require.NoError(t, err)
		require.Equal(t, last, tail.Last)
		_, _, err = r.store.Boards.Place(ctx, store.Board{Variant: "classic"}, "ann")
		require.NoError(t, err)
		_, err = r.store.Lists.Page(ctx, store.List{PlayerID: "ann"}, store.Place{}, 1)
		require.NoError(t, err)
	}
	require.NoError(t, r.client.Do(ctx, "client", "unpause").Err())
}
