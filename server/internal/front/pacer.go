package front

import (
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
	"golang.org/x/time/rate"
)

// Burst is the burst of an address's reads, in seconds' worth. It allows all clients to reconnect
// after a server has stopped.
const Burst = 10

// remembered is the number of keys that a Pacer keeps. It evicts the least recently used
// keys, which then start with a full burst.
const remembered = 1 << 16

// Pacer limits how often each key, such as an address or a player, may do something on
// this server. It is safe for concurrent use.
type Pacer struct {
	limit    rate.Limit // uses per second, or 0 for no limit
	burst    int
	limiters *lru.Cache[string, *rate.Limiter]
}

// NewPacer returns a Pacer with the given limit per second and burst for each key. A limit
// of 0 means no limit.
func NewPacer(limit rate.Limit, burst int) *Pacer {
	limiters, _ := lru.New[string, *rate.Limiter](remembered) // fails only for a size below 1
	return &Pacer{limit: limit, burst: burst, limiters: limiters}
}

// limiter returns the limiter of a key. If the Pacer evicts the key, later calls return
// another one.
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

// Take counts one use of key and returns true, unless the use would exceed the limit. In
// that case, it returns false and counts nothing.
func (p *Pacer) Take(key string) bool { return p.limit == 0 || p.limiter(key).Allow() }

// Spent reports whether Take would return false.
func (p *Pacer) Spent(key string) bool { return p.limit > 0 && p.limiter(key).Tokens() < 1 }

// Wait returns the maximum time until a spent key may be used again. The Pacer must have a
// limit.
func (p *Pacer) Wait() time.Duration { return time.Duration(float64(time.Second) / float64(p.limit)) }
