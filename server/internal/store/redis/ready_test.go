package redis

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	redistest "github.com/gridstand/gridstand/internal/testkit/redis"
)

// Ensure that a Redis server that accepts appends is ready, and that the check changes
// nothing.
func TestReady(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, r *rig) {
		for range 2 { // the script is already loaded the second time
			require.NoError(t, r.store.Games.Ready(t.Context()))
		}
		assert.Zero(t, r.client.DBSize(t.Context()).Val())
	})
}

// Ensure that a Redis server that answers but rejects appends is not ready until it
// accepts them again, and that the check writes nothing.
func TestReady_Refused(t *testing.T) {
	t.Parallel()
	server := redistest.StartRedis(t)
	client := redistest.NewClient(t, server.Addr())
	games := openAt(t, server.Addr(), 10*time.Second).Games
	ctx := t.Context()
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
			return client.SlaveOf(ctx, host, port).Err()
		}, "127.0.0.1 1", "no one", "READONLY"},
	} {
		require.NoError(t, tt.set(tt.refuses))
		assert.ErrorContains(t, games.Ready(ctx), tt.says)
		require.NoError(t, tt.set(tt.takes))
		assert.NoError(t, games.Ready(ctx), tt.says)
	}
	assert.Zero(t, client.DBSize(ctx).Val())
}

// Ensure that Ready returns an error if Redis is unavailable.
func TestReady_Away(t *testing.T) {
	t.Parallel()
	server := redistest.StartRedis(t)
	games := openAt(t, server.Addr(), 10*time.Second).Games
	require.NoError(t, games.Ready(t.Context()))
	server.Kill()
	assert.Error(t, games.Ready(t.Context()))
}
