package rpc

import (
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
	"golang.org/x/time/rate"
)

// remembered is the number of keys that a pacer keeps. It evicts the least recently used
// keys, which then start with a full burst.
const remembered = 1 << 16

// pacer limits how often each key, such as an address or a player, may do something on
// this server. It is safe for concurrent use.
type pacer struct {
	limit    rate.Limit // uses per second, or 0 for no limit
	burst    int
	limiters *lru.Cache[string, *rate.Limiter]
}

// newMinutePacer returns a pacer for a limit per minute, all of which may be used at once.
func newMinutePacer(limit int) *pacer {
	return newPacer(rate.Limit(float64(limit)/time.Minute.Seconds()), limit)
}

func newPacer(limit rate.Limit, burst int) *pacer {
	limiters, _ := lru.New[string, *rate.Limiter](remembered) // fails only for a size below 1
	return &pacer{limit: limit, burst: burst, limiters: limiters}
}

// take counts n uses of key and returns true, unless they would exceed the limit. In that
// case, it returns false and counts nothing. A negative n takes back uses that were counted.
func (p *pacer) take(key string, n int) bool {
	if p.limit == 0 {
		return true
	}
	l, ok := p.limiters.Get(key)
	if !ok {
		l = rate.NewLimiter(p.limit, p.burst)
		if earlier, ok, _ := p.limiters.PeekOrAdd(key, l); ok {
			l = earlier
		}
	}
	return l.AllowN(time.Now(), n)
}

// wait returns the maximum time until take may return true again for n uses. The pacer must have a limit.
func (p *pacer) wait(n int) time.Duration {
	return time.Duration(float64(n) * float64(time.Second) / float64(p.limit))
}
