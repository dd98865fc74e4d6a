package redis

import (
	"context"
	"fmt"
	"strconv"
	"sync"

	goredis "github.com/redis/go-redis/v9"
)

// scanCount is the number of keys or members that one step scans. It is small so that a
// step does not delay other Redis clients.
const scanCount = 500

// scanKeys calls visit with batches of the keys that match a pattern, from all masters of
// a cluster. Calls to visit do not overlap. A key that exists throughout the scan is
// visited at least once. scanKeys stops at the first error, including one from visit.
func scanKeys(ctx context.Context, client goredis.UniversalClient, pattern string, visit func(keys []string) error) error {
	var mu sync.Mutex
	return eachMaster(ctx, client, func(ctx context.Context, master *goredis.Client) error {
		return scanNode(ctx, master, pattern, func(keys []string) error {
			mu.Lock()
			defer mu.Unlock()
			return visit(keys)
		})
	})
}

// eachMaster calls visit with all masters of a cluster concurrently, or with the only node.
func eachMaster(ctx context.Context, client goredis.UniversalClient, visit func(context.Context, *goredis.Client) error) error {
	switch client := client.(type) {
	case *goredis.ClusterClient:
		return client.ForEachMaster(ctx, visit)
	case *goredis.Client:
		return visit(ctx, client)
	default:
		return fmt.Errorf("unsupported type of a Redis client: %T", client)
	}
}

func scanNode(ctx context.Context, client goredis.Cmdable, pattern string, visit func(keys []string) error) error {
	return scanEach(visit, func(cursor uint64) *goredis.ScanCmd { return client.Scan(ctx, cursor, pattern, scanCount) })
}

// scanMembers calls visit with batches of the members of a sorted set. A member that
// stays in the set throughout the scan is visited at least once. scanMembers stops at the
// first error, including one from visit.
func scanMembers(ctx context.Context, client goredis.Cmdable, key string, visit func(members []goredis.Z) error) error {
	return scanEach(func(elements []string) error {
		members := make([]goredis.Z, 0, len(elements)/2)
		for i := 0; i+1 < len(elements); i += 2 { // member, score, member, score, …
			score, err := strconv.ParseFloat(elements[i+1], 64)
			if err != nil {
				return fmt.Errorf("reading a sorted set: %w", err)
			}
			members = append(members, goredis.Z{Member: elements[i], Score: score})
		}
		return visit(members)
	}, func(cursor uint64) *goredis.ScanCmd { return client.ZScan(ctx, key, cursor, "", scanCount) })
}

// scanEach runs a scan to the end, and calls visit with the result of each step.
func scanEach(visit func([]string) error, step func(cursor uint64) *goredis.ScanCmd) error {
	for cursor := uint64(0); ; {
		found, next, err := step(cursor).Result()
		if err != nil {
			return wrap("scanning Redis", err)
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
