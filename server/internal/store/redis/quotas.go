package redis

import (
	"context"
	"time"

	"github.com/go-redis/redis_rate/v10"
)

// quotas implements store.Quotas with the keys "rate:<what>:<key>". Each expires once its
// quota is full again.
type quotas struct{ limiter *redis_rate.Limiter }

func (q quotas) Take(ctx context.Context, what, key string, perMinute int) (time.Duration, error) {
	taken, err := q.limiter.Allow(ctx, what+":"+key, redis_rate.PerMinute(perMinute))
	if err != nil {
		return 0, failed(err)
	}
	if taken.Allowed > 0 {
		return 0, nil
	}
	return max(taken.RetryAfter, time.Millisecond), nil
}
