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
	// all contains the periods in which appends succeeded, in order. Appends that are at most
	// outageAfter apart belong to the same period.
	all []store.Span
}

// note records that an append succeeded at the given time. Times may come out of order: if the
// reply to an append is lost, its time is known only after it was repeated.
func (a *activity) note(at time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	next := len(a.all) // index of the first period that begins after at
	for next > 0 && a.all[next-1].From.After(at) {
		next--
	}
	switch {
	case next > 0 && at.Sub(a.all[next-1].To) <= outageAfter:
		if last := &a.all[next-1]; at.After(last.To) {
			last.To = at
		}
	case next < len(a.all) && a.all[next].From.Sub(at) <= outageAfter:
		a.all[next].From = at
	default:
		a.all = slices.Insert(a.all, next, store.Span{From: at, To: at})
		a.all = a.all[max(0, len(a.all)-maxSpans):]
	}
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
