package fault

import (
	"context"
	"sync"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"
)

// keys returns the matching keys of all Redis nodes.
func (env *env) keys(ctx context.Context, t *testing.T, pattern string) []string {
	t.Helper()
	var mu sync.Mutex
	var all []string
	node := func(ctx context.Context, client *redis.Client) error {
		keys, err := client.Keys(ctx, pattern).Result()
		mu.Lock()
		defer mu.Unlock()
		all = append(all, keys...)
		return err
	}
	switch client := env.redis.(type) {
	case *redis.ClusterClient:
		require.NoError(t, client.ForEachMaster(ctx, node))
	case *redis.Client:
		require.NoError(t, node(ctx, client))
	}
	return all
}
