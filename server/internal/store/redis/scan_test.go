package redis

import (
	"context"
	"errors"
	"testing"

	goredis "github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	redistest "github.com/gridstand/gridstand/internal/testkit/redis"
)

// Ensure that a scan of a cluster calls visit no more after an error, also with keys of other masters.
func TestScanKeys_FirstError(t *testing.T) {
	t.Parallel()
	var slots []goredis.ClusterSlot
	for n := range 2 {
		master := redistest.StartMiniredis(t)
		require.NoError(t, redistest.NewClient(t, master.Addr()).Set(t.Context(), "key", n, 0).Err())
		slots = append(slots, goredis.ClusterSlot{
			Start: n * 8192, End: n*8192 + 8191, Nodes: []goredis.ClusterNode{{Addr: master.Addr()}},
		})
	}
	cluster := goredis.NewClusterClient(&goredis.ClusterOptions{
		ClusterSlots: func(context.Context) ([]goredis.ClusterSlot, error) { return slots, nil },
	})
	defer func() { assert.NoError(t, cluster.Close()) }()
	full, visits := errors.New("the disk is full"), 0
	visit := func(keys []string) error {
		assert.Equal(t, []string{"key"}, keys)
		visits++
		return full
	}
	require.ErrorIs(t, scanKeys(t.Context(), cluster, "*", visit), full)
	assert.Equal(t, 1, visits)
}
