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
	limits   *limits.Limits // used only by check
	limit    *int           // field of limits: uses per period, all of which may be made at once, or 0 for no limit
	per      time.Duration  // the period
	what     string         // part of the error's message after the limit
	limiters *lru.Cache[string, *rate.Limiter]
}

func newPacer(l *limits.Limits, limit *int, per time.Duration, what string) *pacer {
	limiters, _ := lru.New[string, *rate.Limiter](remembered) // fails only for a size below 1
	return &pacer{limits: l, limit: limit, per: per, what: what, limiters: limiters}
}

// take counts n uses of key and returns true, unless they would exceed the limit. In that
// case, it returns false and counts nothing. A negative n takes back uses that were counted.
func (p *pacer) take(key string, n int) bool {
	if *p.limit == 0 {
		return true
	}
	l, ok := p.limiters.Get(key)
	if !ok {
		l = rate.NewLimiter(rate.Limit(float64(*p.limit)/p.per.Seconds()), *p.limit)
		if earlier, ok, _ := p.limiters.PeekOrAdd(key, l); ok {
			l = earlier
		}
	}
	return l.AllowN(time.Now(), n)
}

// check is like take, but returns an error if the uses would exceed the limit.
func (p *pacer) check(key string, n int) error {
	if p.take(key, n) {
		return nil
	}
	return p.limits.Exceeded(p.limit, p.what, time.Duration(n)*p.per/time.Duration(*p.limit))
}
