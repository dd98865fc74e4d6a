package heartbeat

import (
	"slices"
	"sync"
	"time"

	"github.com/gridstand/gridstand/server/internal/store"
)

// maxSpans bounds the spans that are remembered while no heartbeat succeeds.
const maxSpans = 100

// activity remembers when this server's appends succeeded, by the store's clock,
// since its last heartbeat.
type activity struct {
	mu sync.Mutex
	// all are the times in which appends succeeded, never outageAfter apart.
	all []store.Span
}

// note notes an append that succeeded at a moment.
func (a *activity) note(at time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if n := len(a.all); n > 0 && at.Sub(a.all[n-1].To) <= outageAfter {
		last := &a.all[n-1]
		if at.After(last.To) {
			last.To = at
		}
		return
	}
	if len(a.all) == maxSpans {
		a.all = a.all[1:]
	}
	a.all = append(a.all, store.Span{From: at, To: at})
}

func (a *activity) spans() []store.Span {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.all)
}

// forget forgets the spans that ended before a heartbeat that reported them.
func (a *activity) forget(before time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for len(a.all) > 0 && a.all[0].To.Before(before) {
		a.all = a.all[1:]
	}
}
