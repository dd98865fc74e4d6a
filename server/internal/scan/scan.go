// Package scan walks through the keys of a Redis, on every master where there
// are several.
package scan

import (
	"context"
	"fmt"
	"sync"

	"github.com/redis/go-redis/v9"
)

// count is how many keys one step looks at: few enough that nobody else waits
// for it.
const count = 500

// Keys calls visit with the keys that match a pattern, some at a time and never
// two calls at once. A key that is there throughout is visited at least once. It
// ends at the first error, also one of visit's.
func Keys(ctx context.Context, client redis.UniversalClient, pattern string, visit func(keys []string) error) error {
	cluster, ok := client.(*redis.ClusterClient)
	if !ok {
		return node(ctx, client, pattern, visit)
	}
	var mu sync.Mutex
	return cluster.ForEachMaster(ctx, func(ctx context.Context, master *redis.Client) error {
		return node(ctx, master, pattern, func(keys []string) error {
			mu.Lock()
			defer mu.Unlock()
			return visit(keys)
		})
	})
}

// Beside is Keys for the keys that are on one master with the given key, and so
// share its fate.
func Beside(ctx context.Context, client redis.UniversalClient, key, pattern string, visit func(keys []string) error) error {
	cluster, ok := client.(*redis.ClusterClient)
	if !ok {
		return node(ctx, client, pattern, visit)
	}
	master, err := cluster.MasterForKey(ctx, key)
	if err != nil {
		return fmt.Errorf("finding a master: %w", err)
	}
	return node(ctx, master, pattern, visit)
}

func node(ctx context.Context, client redis.Cmdable, pattern string, visit func(keys []string) error) error {
	for cursor := uint64(0); ; {
		keys, next, err := client.Scan(ctx, cursor, pattern, count).Result()
		if err != nil {
			return fmt.Errorf("looking through the keys: %w", err)
		}
		if len(keys) > 0 {
			if err := visit(keys); err != nil {
				return err
			}
		}
		if cursor = next; cursor == 0 {
			return nil
		}
	}
}
