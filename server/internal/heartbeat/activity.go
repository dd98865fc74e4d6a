package heartbeat

import (
	"slices"
	"sync"
	"time"

	"github.com/gridstand/gridstand/server/internal/store"
)

// maxSpans limits the number of periods that are kept while no heartbeat succeeds.
const maxSpans = 100

// activity records when this server's appends succeeded since its last heartbeat, by the
// store's clock.
type activity struct {
	mu sync.Mutex
	// all contains the periods in which appends succeeded. Appends that are at most
	// outageAfter apart belong to the same period.
	all []store.Span
}

// note records that an append succeeded at the given time.
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

// forget removes periods that a heartbeat has reported. A period that has grown since then stays.
func (a *activity) forget(reported []store.Span) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.all = slices.DeleteFunc(a.all, func(s store.Span) bool { return slices.Contains(reported, s) })
}
