package redis

import (
	"context"
	"sync"

	goredis "github.com/redis/go-redis/v9"
)

// scanCount is the number of keys that one step scans. It is small so that a step does not delay
// other Redis clients.
const scanCount = 500

// scanKeys calls visit with batches of the keys that match a pattern, from all masters of
// a cluster. Calls to visit do not overlap. A key that exists throughout the scan is
// visited at least once. scanKeys stops at the first error, including one from visit.
func scanKeys(ctx context.Context, client goredis.UniversalClient, pattern string, visit func(keys []string) error) error {
	var mu sync.Mutex
	var ended error
	return eachMaster(ctx, client, func(ctx context.Context, master *goredis.Client) error {
		return scanNode(ctx, master, pattern, func(keys []string) error {
			mu.Lock()
			defer mu.Unlock()
			if ended == nil {
				ended = visit(keys)
			}
			return ended
		})
	})
}

// eachMaster calls visit with all masters of a cluster concurrently, or with the only node.
func eachMaster(ctx context.Context, client goredis.UniversalClient, visit func(context.Context, *goredis.Client) error) error {
	if cluster, ok := client.(*goredis.ClusterClient); ok {
		return cluster.ForEachMaster(ctx, visit)
	}
	return visit(ctx, client.(*goredis.Client))
}

func scanNode(ctx context.Context, client goredis.Cmdable, pattern string, visit func(keys []string) error) error {
	for cursor := uint64(0); ; {
		found, next, err := client.Scan(ctx, cursor, pattern, scanCount).Result()
		if err != nil {
			return failed(err)
		}
		if len(found) > 0 {
			if err := visit(found); err != nil {
				return err
			}
		}
		if cursor = next; cursor == 0 {
			return nil
		}
	}
}
