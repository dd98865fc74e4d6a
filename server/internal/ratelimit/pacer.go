package ratelimit

import (
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
	"golang.org/x/time/rate"
)

// Burst is how many seconds' worth a Pacer made by PerSecond allows at once, as when
// all clients reconnect after a server stopped.
const Burst = 10

// remembered is the number of keys whose rate a Pacer knows. It forgets the least
// recently used ones, which then start with a full burst.
const remembered = 1 << 16

// Pacer bounds how often each of many keys, such as addresses or players, does
// something on this server. It is safe for concurrent use.
type Pacer struct {
	limit    rate.Limit // 0 for no limit
	burst    int
	limiters *lru.Cache[string, *rate.Limiter]
}

// NewPacer returns a Pacer that allows each key limit times in a second, and burst
// times at once. A limit of 0 is no limit.
func NewPacer(limit rate.Limit, burst int) *Pacer {
	limiters, err := lru.New[string, *rate.Limiter](remembered)
	if err != nil {
		panic(err) // only for a size below 1
	}
	return &Pacer{limit: limit, burst: burst, limiters: limiters}
}

// PerSecond returns a Pacer that allows each key n times in a second, and ten
// seconds' worth at once. 0 is no limit.
func PerSecond(n int) *Pacer { return NewPacer(rate.Limit(n), Burst*n) }

func (p *Pacer) limiter(key string) *rate.Limiter {
	if l, ok := p.limiters.Get(key); ok {
		return l
	}
	fresh := rate.NewLimiter(p.limit, p.burst)
	if l, ok, _ := p.limiters.PeekOrAdd(key, fresh); ok {
		return l
	}
	return fresh
}

// Take counts one time for a key. It reports false, and counts nothing, if that
// exceeds the limit.
func (p *Pacer) Take(key string) bool { return p.TakeN(key, 1) }

// TakeN is Take for n times.
func (p *Pacer) TakeN(key string, n int) bool {
	return p.limit == 0 || p.limiter(key).AllowN(time.Now(), n)
}

// Spent reports whether Take would return false.
func (p *Pacer) Spent(key string) bool { return p.limit > 0 && p.limiter(key).Tokens() < 1 }

// Wait returns the time after which a key that is spent is allowed once more. It is
// for a Pacer with a limit.
func (p *Pacer) Wait() time.Duration { return time.Duration(float64(time.Second) / float64(p.limit)) }
