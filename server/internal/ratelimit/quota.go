package ratelimit

import (
	"context"
	"fmt"
	"time"

	"github.com/go-redis/redis_rate/v10"
	"github.com/redis/go-redis/v9"
)

// Quotas bound how often each of many keys does something on all servers of a Redis.
// There each has the key "rate:<what>:<key>", which expires when the quota is full
// again. Quotas are safe for concurrent use.
type Quotas struct{ limiter *redis_rate.Limiter }

// NewQuotas returns the quotas in client's Redis. The caller closes client.
func NewQuotas(client redis.UniversalClient) *Quotas {
	return &Quotas{redis_rate.NewLimiter(client)}
}

// Take counts one time of what for a key, which may do it perMinute times in a minute;
// 0 is no limit. If that exceeds the quota, it counts nothing and returns how long to
// wait; otherwise it returns 0. An error of Redis or of the context is wrapped.
func (q *Quotas) Take(ctx context.Context, what, key string, perMinute int) (wait time.Duration, err error) {
	if perMinute <= 0 {
		return 0, nil
	}
	taken, err := q.limiter.Allow(ctx, what+":"+key, redis_rate.PerMinute(perMinute))
	if err != nil {
		return 0, fmt.Errorf("asking for a quota: %w", err)
	}
	if taken.Allowed > 0 {
		return 0, nil
	}
	return max(taken.RetryAfter, time.Millisecond), nil
}
