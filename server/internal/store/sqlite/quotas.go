package sqlite

import (
	"context"
	"sync"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
)

// rememberedQuotas is the maximum number of partly used quotas to remember. That many
// take about 10 MB. The least recently used quotas are forgotten first, which makes them
// full again.
const rememberedQuotas = 1 << 16

// quotas implements store.Quotas in memory, because only one server uses the file. After
// a restart every client has its whole quota again. For each key it stores only when the
// quota will be full again, as in the generic cell rate algorithm.
type quotas struct {
	now func() time.Time

	mu   sync.Mutex
	full *lru.Cache[quotaKey, time.Time]
}

type quotaKey struct{ what, key string }

func newQuotas(now func() time.Time) *quotas {
	full, err := lru.New[quotaKey, time.Time](rememberedQuotas)
	if err != nil {
		panic(err) // New fails only if the size is below 1.
	}
	return &quotas{now: now, full: full}
}

func (q *quotas) Take(ctx context.Context, what, key string, perMinute int) (time.Duration, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	now, each := q.now(), time.Minute/time.Duration(perMinute)
	full, ok := q.full.Get(quotaKey{what, key})
	if !ok || full.Before(now) {
		full = now
	}
	full = full.Add(each)
	if wait := full.Sub(now) - time.Minute; wait > 0 {
		return wait, nil
	}
	q.full.Add(quotaKey{what, key}, full)
	return 0, nil
}
