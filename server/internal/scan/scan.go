// Package scan walks through the keys of a Redis, on every master of a cluster, and
// through the members of a sorted set.
package scan

import (
	"context"
	"fmt"
	"strconv"
	"sync"

	"github.com/redis/go-redis/v9"
)

// count is how many keys or members one step looks at: few enough that it does not
// keep other clients of Redis waiting.
const count = 500

// Keys calls visit with the keys that match a pattern, some at a time and never
// two calls at once. A key that exists throughout is visited at least once. It
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

// Beside is Keys for the keys that are on the same master as the given key, and so
// are lost with it.
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
	return each(visit, func(cursor uint64) *redis.ScanCmd { return client.Scan(ctx, cursor, pattern, count) })
}

// Members calls visit with the members of a sorted set, some at a time. A member
// that stays in the set throughout is visited at least once. It ends at the first
// error, also one of visit's.
func Members(ctx context.Context, client redis.Cmdable, key string, visit func(members []redis.Z) error) error {
	return each(func(elements []string) error {
		members := make([]redis.Z, 0, len(elements)/2)
		for i := 0; i+1 < len(elements); i += 2 { // member, score, member, score, …
			score, err := strconv.ParseFloat(elements[i+1], 64)
			if err != nil {
				return fmt.Errorf("reading a sorted set: %w", err)
			}
			members = append(members, redis.Z{Member: elements[i], Score: score})
		}
		return visit(members)
	}, func(cursor uint64) *redis.ScanCmd { return client.ZScan(ctx, key, cursor, "", count) })
}

// each calls visit with what each step of a scan brings.
func each(visit func([]string) error, step func(cursor uint64) *redis.ScanCmd) error {
	for cursor := uint64(0); ; {
		found, next, err := step(cursor).Result()
		if err != nil {
			return fmt.Errorf("scanning Redis: %w", err)
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
