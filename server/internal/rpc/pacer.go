package rpc

import (
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
	"golang.org/x/time/rate"

	"github.com/gridstand/gridstand/server/limits"
)

// remembered is the number of keys that a pacer keeps. It evicts the least recently used
// keys, which then start with a full burst.
const remembered = 1 << 16

// pacer limits how often each key, such as an address or a player, may do something on
// this server. It is safe for concurrent use.
type pacer struct {
	// exceeded is the error that take returns. Its value is the number of uses per period, all of which
	// may be made at once, or 0 for no limit.
	exceeded *limits.ExceededError
	per      time.Duration // the period
	limiters *lru.Cache[string, *rate.Limiter]
}

func newPacer(exceeded *limits.ExceededError, per time.Duration) *pacer {
	limiters, _ := lru.New[string, *rate.Limiter](remembered) // fails only for a size below 1
	return &pacer{exceeded: exceeded, per: per, limiters: limiters}
}

// take counts n uses of key, or all of a period's if there are fewer, unless they would exceed the limit. In that
// case, it counts nothing and returns an error. A negative n takes back uses that were counted.
func (p *pacer) take(key string, n int) error {
	limit := p.exceeded.Value
	if limit == 0 {
		return nil
	}
	l, ok := p.limiters.Get(key)
	if !ok {
		l = rate.NewLimiter(rate.Limit(float64(limit)/p.per.Seconds()), limit)
		if earlier, ok, _ := p.limiters.PeekOrAdd(key, l); ok {
			l = earlier
		}
	}
	n = min(n, limit)
	if l.AllowN(time.Now(), n) {
		return nil
	}
	exceeded := *p.exceeded
	exceeded.Retry = max(exceeded.Retry, time.Duration(n)*p.per/time.Duration(limit))
	return &exceeded
}
