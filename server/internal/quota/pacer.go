package quota

import (
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
	"golang.org/x/time/rate"
)

// Burst is how many seconds' worth of connections and streams an address may
// open at once, as when everybody comes back from a server that stopped.
const Burst = 10

// remembered is how many players' or addresses' pace is kept. Whoever is pushed
// out by so many others begins anew.
const remembered = 1 << 16

// Pacer bounds how fast each of many does something, on this server alone. It is
// safe for concurrent use.
type Pacer struct {
	limit rate.Limit // 0 for none
	burst int
	paces *lru.Cache[string, *rate.Limiter]
}

// NewPacer lets each do something so often in a second, and burst times at once;
// a limit of 0 is none.
func NewPacer(limit rate.Limit, burst int) *Pacer {
	paces, err := lru.New[string, *rate.Limiter](remembered)
	if err != nil {
		panic(err) // only for a size below 1
	}
	return &Pacer{limit: limit, burst: burst, paces: paces}
}

// of is somebody's own pace.
func (p *Pacer) of(who string) *rate.Limiter {
	if pace, ok := p.paces.Get(who); ok {
		return pace
	}
	fresh := rate.NewLimiter(p.limit, p.burst)
	if pace, ok, _ := p.paces.PeekOrAdd(who, fresh); ok {
		return pace
	}
	return fresh
}

// Take reports whether somebody may do it once more now, and counts it.
func (p *Pacer) Take(who string) bool { return p.TakeN(who, 1) }

// TakeN is Take for n times at once.
func (p *Pacer) TakeN(who string, n int) bool {
	return p.limit == 0 || p.of(who).AllowN(time.Now(), n)
}

// Spent reports whether somebody may not do it any more for now.
func (p *Pacer) Spent(who string) bool { return p.limit > 0 && p.of(who).Tokens() < 1 }

// Wait is after what time there is more. It is for a Pacer with a limit.
func (p *Pacer) Wait() time.Duration { return time.Duration(float64(time.Second) / float64(p.limit)) }
