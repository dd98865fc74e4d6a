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

func newPacer(limit rate.Limit, burst int) *pacer {
	limiters, _ := lru.New[string, *rate.Limiter](remembered) // fails only for a size below 1
	return &pacer{limit: limit, burst: burst, limiters: limiters}
}

// take counts one use of key and returns true, unless the use would exceed the limit. In
// that case, it returns false and counts nothing.
func (p *pacer) take(key string) bool {
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
	return l.Allow()
}

// wait returns the maximum time until take may return true again. The pacer must have a limit.
func (p *pacer) wait() time.Duration { return time.Duration(float64(time.Second) / float64(p.limit)) }
