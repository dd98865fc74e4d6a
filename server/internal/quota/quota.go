// Package quota bounds how often somebody does something: over all servers on
// one Redis, or on this one alone.
package quota

import (
	"context"
	"fmt"
	"time"

	"github.com/go-redis/redis_rate/v10"
	"github.com/redis/go-redis/v9"
)

// Quotas are those in one Redis, a key each, "rate:<what>:<who>", which is gone
// once the quota is whole again. It is safe for concurrent use.
type Quotas struct{ limiter *redis_rate.Limiter }

// New returns the quotas in client's Redis, which remains the caller's to close.
func New(client redis.UniversalClient) *Quotas {
	return &Quotas{redis_rate.NewLimiter(client)}
}

// Take takes one from what somebody may do in a minute, all of it at once or
// spread; 0 a minute is no limit. If nothing is left it returns after what time
// there is, else 0. The error is Redis's or the context's, wrapped.
func (q *Quotas) Take(ctx context.Context, what, who string, perMinute int) (wait time.Duration, err error) {
	if perMinute <= 0 {
		return 0, nil
	}
	taken, err := q.limiter.Allow(ctx, what+":"+who, redis_rate.PerMinute(perMinute))
	if err != nil {
		return 0, fmt.Errorf("asking for a quota: %w", err)
	}
	if taken.Allowed > 0 {
		return 0, nil
	}
	return max(taken.RetryAfter, time.Millisecond), nil
}
